// Package turn decides when the user's turn opens, when it is committed and when
// it is dropped, and when speech over the agent's voice is an interruption. It
// hears the detector, the recogniser, the client and the clock only as events.
//
// # Invariants
//
//   - Coupled: speech that was announced and a turn that is open are one state.
//   - AtMostOneTurnOpen: neither a turn nor a candidate opens beside an open one.
//   - EveryTurnEndsOnce: a turn is committed or discarded, never both, never neither.
//   - BargeInOnlyFromSpeech: an interruption comes from a candidate, a candidate from a voice.
//   - BargeInBeforeCommit: a confirmed candidate interrupts before its turn is committed.
//   - CandidateEndsByVerdict: a candidate is confirmed or rejected, once, by its own verdict.
//   - SpeechStopsOnce: every announced start of speech gets one end, before the turn's own.
//   - StaleIsHarmless: another turn's event, an old timer, an older asking change nothing.
//   - GateIsAsked: an end that is to be confirmed is not taken without the gate.
//   - EOUNotLost: an end of utterance that was heard while the voice went on counts when it stops.
//   - EveryPauseEnds: a pause leads to the commit, the gate or a timer, and these to the commit.
//   - TimeoutBeforeCommit: an idle time-out is announced, then its empty turn is committed.
//   - CommitSaysWhose: a commit says whether the client made it and whether anybody spoke.
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
// OpenCandidate starts the decision: the driver owes one Sustained or Misfire, at
// the latest when the deadline (1 s) comes, and nobody else keeps a deadline
// (docs/decisions/002). What the recogniser or the detector says of a candidate
// besides is ignored, so what still stands when a candidate is confirmed is said
// again: a Silence that has passed, an EndOfUtterance that the stream remembers.
// ArmFallback owes one FallbackExpired with its generation, AskGate one GatePassed or
// GateRefused with its generation, by a deadline of the driver's. Silence comes once
// a pause; VoiceResumed comes when a voice follows it, or when words follow an end
// of utterance. An empty input buffer is refused before Commit gets here. After
// Shutdown the machine is as at first (the detector may be switched on again);
// that nothing opens once the session ends is for the composition to hold.
//
// # Where the rules come from
//
// The OpenAI Realtime protocol (GA): input_audio_buffer.speech_started, speech_stopped,
// committed and timeout_triggered, in this order and with one item id; server_vad commits
// on silence_duration_ms; semantic_vad commits on the end of an utterance and otherwise
// after a wait by its eagerness (Silence's FallbackMS). speech_started is never sent
// for an unconfirmed candidate, since clients truncate the agent's item on it.
//
// # Where it departs from a simpler machine
//
// Idle and Speaking would do without Candidate, if every sound over the agent were
// an interruption: a cough would kill the reply. Confirming exists because an end of
// utterance that was heard live may be wrong. A refused gate goes back to Speaking with
// a fallback (docs/decisions/005): the user's words are kept, whatever the gate says.
package turn
