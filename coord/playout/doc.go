// Package playout decides what the person hears of a reply, and knows how much of
// it that was. It can hold a reply while somebody may be interrupting, go on from
// where it was held, or cut it off and say where.
//
// # Invariants
//
//   - NothingHeardAfterCleared: nothing of a reply that was cut off or has ended is heard again.
//   - TruncateWithinSent: an item is cut where its reply was held or cleared, never beyond
//     what was sent, once, and after the reply was announced as cleared.
//   - StartedThenStoppedOrCleared: an announced start gets one end: stopped or cleared.
//   - HoldEndsByVerdict: a hold ends by its own candidate's verdict, or with the reply.
//   - SilentWhileHeld: a reply sounds exactly while the machine says that it plays.
//   - NoWordLost: after a rejected candidate the reply goes on where it was held.
//   - GenGrows: every segment has a new generation.
//   - StaleIsHarmless: an older segment's report, another candidate's verdict, change nothing.
//
// Liveness: HoldEnds, where every candidate gets its verdict, and PlayingEnds, where
// every segment is reported as drained.
//
// # Contract with the driver
//
// Replies count up and begin one after another: the driver keeps a Begin back while
// another reply sounds or is held. Begin's Candidate is the turn that is open, where
// it may interrupt; the reply then begins held, and that turn's end is its verdict.
// Candidate's and Clear's Heard is how far the reply got, measured at that moment;
// where nobody lowered the agent's volume that is what was sent. Play and
// RewindAndResume begin a segment and owe one Drained with its generation, when its
// last audio has gone out, unless a Hold or a Drop comes first; a Drained that is under
// way then is late and ignored. RewindAndResume with nothing left to say is drained at
// once. Truncate is performed after the response's own terminal (clients read the
// item again on conversation.item.truncated); the composition sees to it.
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
// exists because a cough must cost nothing. There is no timer here: the turn alone
// owns the decision's deadline (docs/decisions/002). The reports of a client that
// lowers the volume itself (what it heard at full level before the hold, and at the
// end) are not here yet: what was sent stands for what was heard.
package playout
