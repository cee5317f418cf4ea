// Package playout decides what the person hears of a reply, and knows how much of
// it that was. It can hold a reply while somebody may be interrupting, go on from
// where it was held, or cut it off and say where.
//
// # Invariants
//
//   - NothingHeardAfterCleared: nothing of a reply that was cut off or has ended is heard again.
//   - TruncateWithinSent: an item is cut where the client heard it to, or where its reply was held or
//     cleared, never beyond what was sent, once, and after the reply was announced as cleared.
//   - StartedThenStoppedOrCleared: an announced start gets one end: stopped or cleared.
//   - HoldEndsByVerdict: a hold ends by its own candidate's verdict, or with the reply.
//   - SilentWhileHeld: a reply sounds exactly while the machine says that it plays.
//   - NoWordLost: after a rejected candidate the reply goes on where it was held, or heard to.
//   - ReadyIsAwaited: what a client lowered goes on only after its ready, or the time for that.
//   - HeardIsAwaited: what a client heard of a reply that was cut off is awaited, and nothing begins before.
//   - VerdictOnce: a client is told that its candidate was rejected once, when the reply goes on.
//   - GenGrows: every segment has a new generation.
//   - StaleIsHarmless: an older segment's report, another candidate's verdict, change nothing.
//
// Liveness: HoldEnds, where every candidate gets its verdict and every wait its end, CutEnds, and
// PlayingEnds, where every segment is reported as drained.
//
// # Contract with the driver
//
// Replies count up and begin one after another: the driver keeps a Begin back while
// another reply sounds, is held or is awaited. Begin's Candidate is the turn that is open, where
// it may interrupt; the reply then begins held, and that turn's end is its verdict.
// Candidate's and Clear's Heard is how far the reply got, measured at that moment: what was
// sent of it, of one that has drained too. Play and
// RewindAndResume begin a segment and owe one Drained with its generation, when its
// last audio has gone out, unless a Hold or a Drop comes first; a Drained that is under
// way then is late and ignored. RewindAndResume with nothing left to say is drained at
// once. Truncate is performed after the response's own terminal (clients read the
// item again on conversation.item.truncated); the composition sees to it.
//
// AwaitReady owes one ReadyExpired, and AwaitHeard one HeardExpired, unless the client's Ready or Heard
// was told before. A client numbers its candidates itself: the driver tells Ready of the newest one
// only, by the name that AwaitReady gave it.
//
// # A client that reports
//
// It lowers the agent before the server knows of anybody, and so what was sent is not what was heard. The places are
// the driver's to know: it keeps which packet had which place in the reply. A hold for its candidate ends in two
// steps. The verdict decides what becomes of the reply; but it goes on only when the client says
// that the server's silence plays, that the level is up, and where it was heard to (Ready). A newer candidate takes the
// older one's place. The server's own onset waits for nobody: nothing was lowered then, what was sent will be heard.
//
// What was sent last may still be ahead of its ear when the reply was announced as stopped: its candidate holds that
// tail too. If it is rejected the tail is said again, and is announced as started once more; if it is confirmed no
// second end is announced.
//
// # Where the rules come from
//
// The OpenAI Realtime protocol (GA) over WebRTC: output_audio_buffer.started when the
// reply begins, stopped when it was heard to its end, cleared when it was cut off;
// conversation.item.truncated with audio_end_ms not beyond what was sent. On a
// WebSocket none of these are sent and the client cuts the item itself.
//
// # Where it departs from a simpler machine
//
// Silent and Playing would do if every sound over the agent ended the reply. Held
// exists because a cough must cost nothing. Cut exists because two truths about what was heard make a conversation
// remember words that nobody heard. There is no timer here: the turn alone
// owns the decision's deadline (docs/decisions/002), the driver the two waits.
package playout
