// Package conn is the machine for one session's connection, from its beginning to its end.
// It is the parent of the other machines (its children): they work while the connection is
// up, and it ends them before it ends itself.
//
// # Invariants
//
//   - TeardownOnce: the children are told to end once, the transport is released once, and the session is removed from the server once, as the
//     last effect.
//   - NoVADAfterClosing: turn detection is off before the children are told to end, and stays off.
//   - ReleaseAfterChildren: the transport is released only when every child has ended.
//   - VADPaired: every start of turn detection is followed by one stop. The state and the monitor agree on whether it is on.
//   - AnnouncedOnceAndFirst: session.created is the first event that a client gets, and comes once.
//   - LossIsNoEnd: a lost transport may come back. Only the grace timer that the loss armed ends the session.
//   - StaleIsHarmless: a grace timer that was cancelled changes nothing. Nor does ChildrenDone before the children were told to end.
//   - EveryCloseCloses: in every state, Close tells the children to end, with its reason, unless they were told before.
//
// Liveness, if every child ends when it is told to, and every grace timer that is not
// cancelled runs out: TeardownEnds, InterruptionEnds.
//
// # Contract with the driver
//
// The driver sends Opened when the transport carries events and the back ends are loaded. It
// keeps the settings that the client sends before that, and puts them into Opened. The
// transport reports Lost when it carries nothing but may come back, and Restored when it
// carries data again. If it fails for good, the driver sends Close with the reason Failed, in
// any state. For each ArmGrace the driver sends one GraceExpired with its generation number.
// For StopChildren it sends one ChildrenDone, when every child has ended and every goroutine
// has returned. It performs ReleaseTransport and Forget once, in this order.
//
// # Where the rules come from
//
// WebRTC: the ICE state "disconnected" is recoverable and "failed" is not. The
// OpenAI Realtime protocol (GA): session.created is the first server event; a
// session lives 60 minutes at most; turn_detection may be switched off and on with
// session.update at any time.
//
// # Where it departs from a simpler machine
//
// If all goroutines ended at once, two states, open and closed, would be enough. They do
// not, so the end takes two steps: Closing waits for the children, and the transport is
// released on the way to Closed. Interrupted exists so that a client that loses its network
// for a few seconds keeps its conversation.
package conn
