// Package session composes the server's machines into one session. It is the only
// place where one machine's effect becomes another's event: an interruption that
// the turn machine confirms clears the playout and cancels the response; a turn
// that is committed is transcribed and then answered; a connection that ends takes
// everything with it.
//
// Next is pure. Its driver takes one event from the session's queue, calls Next,
// stores the state, and then performs the effects in order, outside any lock; what
// answers does so with a new event.
//
// Invariants
//   - ChildrenDieWithParent: when the connection is closed, nothing of the session runs.
//   - NoChildStartsAfterTeardown: no response, stream or turn begins once it closes.
//   - NoTurnLost: a committed turn gets a response, unless create_response is off, it
//     has no words, or a newer turn supersedes it; a reply that was taken away by
//     a turn that turned out to be none is created again.
//   - NoOverlap: with interrupt_response on, the agent is silent while a turn is open.
//   - HeldOnlyInTurn: the agent is held only while the turn that it is held for is open.
//   - NothingOwedWhenIdle: when nobody speaks, works or is heard, nothing is owed.
//   - AtMostOneLive, AtMostOneBody: as in package response, in every interleaving.
package session
