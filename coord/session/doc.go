// Package session composes the server's machines into one session. It is the only
// place where one machine's effect becomes another's event. For example: when the
// turn machine confirms a barge-in, the playout is cleared and the response is
// cancelled. When a turn is committed, it is transcribed and then answered. When the
// connection ends, all other machines end. testdata/diagram.txt draws which machine's
// effects become events of which machine.
//
// Next is pure. Its driver takes one event from the session's queue, calls Next,
// stores the state, and then performs the effects in order, outside any lock. If
// an effect has a result, the driver gives the result to Next as a new event.
//
// # Invariants
//
//   - AtMostOneLive, AtMostOneBody, TerminalAfterCreated, ExactlyOneTerminal: as in package response, in every interleaving with the other
//     machines.
//   - FreshIDs: a response that is announced has a new number. A turn that opens or is committed has a number above those of all turns that have
//     ended.
//   - CreatedForItsRequest: a response is announced with its request: that of the client's Create, or the turn that waits for its response, or
//     the request of an earlier response that a false barge-in has ended.
//   - VoiceFollowsBody: after a step that starts a body, the synthesis accepts clauses. After a step that cancels a body, it accepts none. If a
//     step does both, the later effect counts.
//   - ChildrenDieWithParent: when the session is closed, every other machine has ended; when they all have ended, a closing session is closed.
//     (The parent is the connection machine, the children are the others.)
//   - NoChildStartsAfterTeardown: no response, stream or turn begins once the session closes.
//   - NoTurnLost: a committed turn gets a response, unless create_response is off, it has no words, or a newer turn supersedes it.
//   - AnsweredWithWords: no response is announced while a turn that is to get a response still waits for its text.
//   - NoReplyLost: a response that waits to be played begins, or still waits, or is dropped and truncated. So does a response whose first audio
//     comes, if it is live and has not begun. The end of a body drops no response: the audio that the body has made is played, also if the body
//     failed. No response waits while nothing plays.
//   - OneReplyAtATime: in the order of the effects, the end of an older response comes before the beginning of a newer one.
//   - NothingOwedWhenIdle: when the session is idle, every response that a false barge-in has ended was created again, and the session stores no
//     request of a response.
//   - NoOverlap: while a turn is open and interrupt_response is on, no response plays, unless the turn was open when the settings changed.
//   - HeldOnlyInTurn: a response is held only while its turn is open. After that turn is rejected, it may be held until the client that ducked
//     it is ready.
//   - SoundStopsFirst: a step that holds or drops the response that plays begins with its Pause. There is no other Pause.
//   - InterruptionInOrder: the events of an interruption come in this order: speech_started, output_audio_buffer.cleared, the end of the
//     response, truncated, the commit of the turn, and then a new response.
//
// Liveness, if the driver keeps its contract: Settles and TeardownEnds. Settles says: when the driver has done
// all that the effects ask of it, no turn is open, no response is left, and no turn waits for one. Each machine's own invariants
// hold inside a session too: the simulation checks them.
//
// # Contract with the driver
//
// The driver keeps the contract of each machine (their package comments), with these
// changes. This package fills in fresh identifiers, Onset's AgentAudible, Begin's
// Candidate and Clear's Heard. Next's at is the position of the response that
// plays. The driver sends Begin at once: here a response waits for the one
// before it. Drop and Truncate also come for responses that waited; their position is the
// beginning of the response.
//
// # A client that reports
//
// With Config.Reports the client ducks the agent itself, sends candidates and reports what the user heard (package
// playout). Its candidate opens a candidate here even after the last response has drained, because the client may not have
// played the end of that response yet. Next's at is then the end of that response. If the turn has a candidate already,
// the client's candidate joins it. AwaitReady names the turn that the client's candidate belongs to. If no AwaitReady
// follows, nothing is held for the candidate: its response is interrupted already, or there is no response. A response
// that waits begins when the client has reported what was heard of the one before it, or when this is no longer awaited.
//
// # Settings
//
// A new Config holds from its event on. When interrupt_response is switched off, a held
// response plays on, and a candidate that is confirmed later interrupts no response.
package session
