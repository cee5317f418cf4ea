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
//   - AtMostOneLive, AtMostOneBody, TerminalAfterCreated, ExactlyOneTerminal: as in package
//     response, in every interleaving with the other machines.
//   - FreshIDs: a response or a turn that begins has an identifier that none before it had.
//   - CreatedForItsRequest: a response is announced with its request: the client's, the turn's, or that of an
//     earlier response that a false barge-in has ended.
//   - VoiceFollowsBody: when a body begins, the queue of clauses is open; when a body is cancelled, the queue is closed.
//   - ChildrenDieWithParent: when the session is closed, every other machine has ended; when they all have ended, a closing
//     session is closed. (The parent is the connection machine, the children are the others.)
//   - NoChildStartsAfterTeardown: no response, stream or turn begins once the session closes.
//   - NoTurnLost: a committed turn gets a response, unless create_response is off, it
//     has no words, or a newer turn supersedes it.
//   - AnsweredWithWords: no response is announced while a turn that is to be answered waits for its text.
//   - NoReplyLost: a response that waits behind another is played, or dropped and truncated; none waits while nothing plays.
//   - OneReplyAtATime: the end of a response comes before the audio of the next one begins.
//   - NothingOwedWhenIdle: when nobody speaks and no response is made or played, every response that a false barge-in has
//     ended was created again.
//   - NoOverlap: with interrupt_response on, the agent is silent while a turn is open, unless the setting changed during the turn.
//   - HeldOnlyInTurn: a response is held only while its turn is open. After that turn is
//     rejected, it may be held until the client that ducked it is ready.
//   - SoundStopsFirst: a step that holds or drops the response that plays begins with its Pause.
//   - InterruptionInOrder: speech_started, cleared, the response's end, truncated, committed, created.
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
