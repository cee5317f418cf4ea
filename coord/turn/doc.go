// Package turn decides when the user's turn opens, when it is committed and when
// it is dropped, and when speech over the agent is a barge-in. The detector,
// the recogniser, the client and the clock reach it only as events.
//
// # Invariants
//
//   - Coupled: a turn is open exactly while its speech is announced.
//   - AtMostOneTurnOpen: neither a turn nor a candidate opens while another one is open.
//   - EveryTurnEndsOnce: a turn is committed or discarded, once. Every Commit of the client commits a turn. Only the new turn of a Commit or an
//     IdleTimeout is committed without having been open.
//   - BargeInOnlyFromSpeech: only a confirmed candidate interrupts, and only speech opens a candidate.
//   - BargeInBeforeCommit: a confirmed candidate interrupts in the same step, before its turn is committed.
//   - CandidateEndsByVerdict: a candidate is confirmed or rejected, once, by its own verdict.
//   - SpeechStopsOnce: after every announced start of speech, its end is announced once, before the turn ends.
//   - StaleIsHarmless: an event of another turn or an older timer, or an answer to an older question to the gate, changes nothing.
//   - GateIsAsked: the machine is in Confirming exactly while the gate has not answered. If the gate must confirm an end of utterance, the turn
//     is committed without the gate only by the client, by silence alone, or by the fallback timer.
//   - EOUNotLost: an end of utterance that comes while the speech goes on counts when the speech stops.
//   - EveryPauseEnds: a pause leads to the commit, to the gate or to a timer. A timer that runs out leads to the commit, and so does a gate that
//     passes. A gate that refuses leads to a timer, and one that finds no words to the end of the turn.
//   - TimeoutBeforeCommit: if no turn is open, an idle time-out is announced once, and then its empty turn is committed.
//   - CommitSaysWhose: a CommitTurn says whether the client made it, because such a turn gets no response by itself. It also says whether
//     anybody spoke, because an empty turn is not transcribed.
//
// Liveness, where the driver keeps its part: CandidateEnds, GateAnswers, EveryTurnEnds.
//
// # Contract with the driver
//
// Turn ids are fresh and count up; the id of an Onset, a ClientCandidate, a Commit
// or an IdleTimeout is used only when no turn is open. One id goes from the onset to
// the commit: speech_started, speech_stopped, committed, the captions and the
// user's item carry it.
//
// OpenCandidate starts the decision: the driver sends one Sustained or Misfire, at
// the latest when the deadline (1 s) comes. No other component keeps a deadline for it
// (docs/decisions/002). The machine ignores everything else that the recogniser or the
// detector reports during a candidate. So when a candidate is confirmed, the driver
// reports again what still holds: a Silence that has passed, an EndOfUtterance that the
// stream remembers. For each ArmFallback the driver sends one FallbackExpired with its
// generation number. While the machine waits for the gate, the driver answers AskGate with one
// GatePassed, GateRefused or NoSpeech with its generation number, before a deadline of its own. When the
// machine has left Confirming, it needs no answer. The driver sends one Silence for each pause, and
// another one when the settings of turn detection change in the pause. The second Silence starts the timer again. The driver sends VoiceResumed when speech follows the pause, and when words
// follow an end of utterance during the speech. It refuses to commit an empty input buffer, and sends no Commit for it.
// After Shutdown the machine is in its first state again, because the detector may be switched on
// again. The client knows the item of a turn that was discarded because of that (Stopped): the driver gives
// the audio and the item of that turn to the next one. The composition makes sure that no turn opens after the session has ended.
//
// # Where the rules come from
//
// The OpenAI Realtime protocol (GA): input_audio_buffer.speech_started, speech_stopped,
// committed and timeout_triggered, in this order and with one item id; server_vad commits
// on silence_duration_ms; semantic_vad commits on the end of an utterance and otherwise
// after a wait that depends on eagerness (FallbackMS of Silence). The driver never sends speech_started
// for an unconfirmed candidate, because clients truncate the agent's item when they get it.
//
// # Where it departs from a simpler machine
//
// If every sound over the agent were a barge-in, the states Idle and Speaking would be
// enough, but a cough would end the response: Candidate prevents that. Confirming exists because a
// recogniser may report an end of utterance that is wrong. If the gate
// refuses, the machine goes back to Speaking with a fallback timer (docs/decisions/005),
// so the user's words are never lost.
package turn
