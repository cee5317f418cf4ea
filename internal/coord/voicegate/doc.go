// Package voicegate decides whether the speech of one turn may reach the model. A session that asks who speaks has one such machine for each
// committed turn. The machine admits the turn when a back end has recognised an authorised person, or when a turn before it has earned the
// session's trust. In every other case it refuses the turn: another person, a back end that fails, or one that does not answer in time.
//
// # Invariants
//
//   - FailsClosed: a turn is admitted only when its voice was recognised before any other end, or when the session trusts it.
//   - OneVerdict: a turn is admitted or refused at most once, and asked about at most once.
//   - TrustIsEarned: a turn earns trust only when its own voice was recognised, and only where the session asks for the first turn alone.
//   - StateAgrees: the state says whether the turn was asked about, and what the verdict was.
//
// Liveness, if the deadline comes: VerdictComes.
//
// # Contract with the driver
//
// The driver sends Ask when the turn is committed. Until the machine admits the turn, the driver gives nothing of it to the model: no text, no audio, no
// item, no draft, and the turn gets no response. Trusted says that Trust was performed for a turn before, with the present
// settings. For Verify the driver asks the back end, and starts a timer. It sends one of Matched, Mismatched and Failed, or Expired when
// the timer runs out first. It sends Shutdown when the turn is given up, or the session ends.
//
// The machine is not part of coord/session: the driver keeps the final text of the turn back until the verdict. A refused turn then is one
// without words for the composition. Such a turn gets no response, and the response that it interrupted is created again.
package voicegate
