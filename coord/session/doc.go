// Package session composes the server's machines into one session. It is the only
// place where one machine's effect becomes another's event: an interruption that
// the turn machine confirms clears the playout and cancels the response; a turn
// that is committed is transcribed and then answered; a connection that ends takes
// everything with it. testdata/diagram.txt draws who makes it tell whom.
//
// Next is pure. Its driver takes one event from the session's queue, calls Next,
// stores the state, and then performs the effects in order, outside any lock; what
// answers does so with a new event.
//
// # Invariants
//
//   - AtMostOneLive, AtMostOneBody, TerminalAfterCreated, ExactlyOneTerminal: as in package
//     response, in every interleaving with the other machines.
//   - FreshIDs: what begins has an identifier that nothing before it had.
//   - CreatedForItsRequest: a response is announced with the client's request, the turn, or the request of the lost
//     response that it is for.
//   - VoiceFollowsBody: a body begins with an open queue of clauses; a cancelled one is said no further.
//   - ChildrenDieWithParent: what is closed has no child left, and what has none left is closed.
//   - NoChildStartsAfterTeardown: no response, stream or turn begins once it closes.
//   - NoTurnLost: a committed turn gets a response, unless create_response is off, it
//     has no words, or a newer turn supersedes it.
//   - AnsweredWithWords: nothing is announced while such a turn's words are awaited.
//   - NoReplyLost: a reply that waits behind another is heard, or dropped and cut; none waits in silence.
//   - OneReplyAtATime: a reply begins after the end of the one before it, in the order of the effects too.
//   - NothingOwedWhenIdle: when nobody speaks, works or is heard, no reply is owed that was
//     taken away by a turn that turned out to be none: it was created again.
//   - NoOverlap: with interrupt_response on, the agent is silent while a turn is open.
//   - HeldOnlyInTurn: the agent is held only while the turn that it is held for is open, or, once that
//     is rejected, until the client that lowered it is ready.
//   - SoundStopsFirst: a step that holds or drops the response that plays begins with its Pause.
//   - InterruptionInOrder: speech_started, cleared, the response's end, truncated, committed, created.
//
// Liveness, where the driver keeps its part: Settles (with nothing owed, no turn, reply or answer
// is left) and TeardownEnds. Each machine's own invariants hold inside a session too: the
// simulation watches them.
//
// # Contract with the driver
//
// It is that of each machine (their package comments), with these changes. Fresh
// identifiers, Onset's AgentAudible, Begin's Candidate and Clear's Heard are filled in
// here. Next's mark is how far the reply that sounds has got. A driver does not keep a
// Begin back: a reply waits here for the one before it. Drop and Truncate come for
// replies that waited, too; their mark is the beginning.
//
// # A client that reports
//
// Config.Reports: it lowers the agent itself, sends candidates and says what it heard (package playout). Its candidate
// opens one here also when the last reply has drained, since the tail of that may still be ahead of its ear; Next's mark is
// then that reply's end. One that comes while the turn has a candidate already joins it: AwaitReady names the turn that
// it belongs to, and where no AwaitReady follows nothing is held for it (its reply is interrupted already, or there is
// none). A reply that waits begins when what was heard of the one before it is known, or is not awaited any more.
//
// # Settings
//
// A new Config holds from its event on. Where interrupt_response goes off, what is
// held plays on and a candidate that is confirmed later interrupts nobody.
package session
