// Package conn is the life of one session's connection, from the first contact to
// the moment when nothing of it is left. It is the parent of the other machines:
// they work while it is up, and it ends them before it ends itself.
//
// # Invariants
//
//   - TeardownOnce: children are told to end once, the transport is released once,
//     the session is forgotten once and last.
//   - NoVADAfterClosing: turn detection is off before the children are told to end, and stays off.
//   - ReleaseAfterChildren: nothing is released while a child may still use it.
//   - VADPaired: every start of turn detection has one stop.
//   - AnnouncedOnceAndFirst: session.created comes once and before everything else.
//   - LossIsNoEnd: a lost transport ends the session only when its own grace timer runs out.
//   - StaleIsHarmless: a timer that was called off changes nothing.
//   - EveryCloseCloses: Close ends a session in any state, with its reason.
//
// Liveness, where every child ends when it is told to and a grace timer that is not
// called off runs out: TeardownEnds, InterruptionEnds.
//
// # Contract with the driver
//
// Opened comes when the transport carries events and the back ends are warm. What the
// client configures before that is the driver's to keep and goes into Opened. Lost and
// Restored are the transport's reports of a silence that may pass; a failure for good is
// Close with the reason Failed, in any state. ArmGrace owes one GraceExpired with its
// generation. StopChildren owes one ChildrenDone, when every child has ended and its
// goroutines are joined. ReleaseTransport and Forget are performed once, in this order.
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
// Open and closed would do if joining were atomic. It is not, so teardown takes two
// steps: Closing waits for the children, and only Closed has let go of the transport.
// Interrupted exists so that a tunnel of a few seconds does not cost the conversation.
package conn
