// Package playout decides what the user hears of a response, and knows how much of
// it the user has heard. It can hold a response while the user may be interrupting,
// continue it from where it was held, or cut it and say where.
//
// # Invariants
//
//   - NothingHeardAfterCleared: a response that was cut or has ended does not play again. A response is silent before it is announced as
//     cleared.
//   - TruncateWithinSent: an item is truncated at the position that the client reports, or at which its response was held, or up to which it was
//     sent when the clear came. Each dropped response is truncated once, after it was announced as cleared, or the machine still waits for the
//     client's report.
//   - StartedThenStoppedOrCleared: after an announced start comes one announced end: stopped if the response was sent to its end, cleared if it
//     was cut. If its end is played again, the start is announced again.
//   - HoldEndsByVerdict: a hold ends with the verdict on its own candidate, or with the response. If the verdict was a rejection and the client
//     was not ready, the hold ends with the client's ready, or a newer candidate takes its place.
//   - SilentWhileHeld: the audio of a response goes out exactly in the state Playing. The driver gets one Hold when a hold begins.
//   - NoWordLost: after a rejected candidate the response goes on from the position at which it was held, or from the position that the client
//     reported. If the client has not been told of it, it plays from its beginning. A response that may begin does begin. Audio that the far end
//     has not received is played again, at once if the response is not held.
//   - ReadyIsAwaited: after each candidate of the client the machine waits for the client's ready. The response goes on only after that.
//   - HeardIsAwaited: after a response of a client that reports is cut, the machine waits for the client's report, if the client is told of the
//     cut. No response begins before.
//   - VerdictOnce: the client is told once that its candidate was rejected, when the response goes on.
//   - GenGrows: every segment has a new generation number, and the state has the newest one.
//   - StaleIsHarmless: the report of an older segment changes nothing. Nor does a verdict on or a ready for another candidate, a report about
//     another response, or any event after the shutdown.
//
// Liveness: HoldEnds, if every candidate gets its verdict and every wait ends; CutEnds; and
// PlayingEnds, if every segment is reported as drained.
//
// # Contract with the driver
//
// The numbers of responses count up, and responses begin one after another. The driver sends a
// Begin only when no other response plays or is held, and the machine waits for no report about one. Begin's Candidate is the open turn, if that may interrupt. The response then
// begins held, and the end of that turn is the verdict. The field Heard of Candidate and of Clear
// is the sent position at that moment, also if the response has drained.
//
// Play and RewindAndResume begin a segment. The driver sends one Drained with the segment's
// generation number when its last audio has gone out, unless a Hold or a Drop comes first; the
// machine ignores a Drained that comes after that. If RewindAndResume has nothing left to play,
// its segment is drained at once. Truncate is performed after the response's own terminal event,
// because clients read the item again on conversation.item.truncated; the composition ensures
// this order.
//
// For each AwaitReady the driver sends one ReadyExpired, and for each AwaitHeard one HeardExpired, unless the
// client's Ready or Heard came before. A client numbers its candidates itself. The driver sends Ready for the
// newest one only, by the name that AwaitReady gave it.
//
// # A network that was cut
//
// When the network was cut and is back, the driver sends one Missed for the response that plays, is held, or was sent
// last, if the far end may not have received some of it. From is the position where this audio begins. It is not after At of Held. Candidate is
// as in Begin. A response that was announced as stopped is then announced as started again, and plays its end again.
//
// # A client that reports
//
// A client that reports (Candidate.Reports) ducks the agent before the server has found any speech, so the user has not heard at full level all that was
// sent. The driver remembers which packet had which position in the response. A hold for the client's candidate ends in two
// steps. The verdict decides whether the response goes on. It then goes on only when the client has sent its Ready: the
// server's silence plays, the level is up, and the user heard the response up to this position. A newer candidate replaces an
// older one. A hold for the server's own onset waits for no Ready: the client has not ducked, so the user hears all that was
// sent.
//
// When a response has been announced as stopped, the client may not have played its end yet. The client's candidate holds
// this tail too. If the candidate is rejected, the tail is played again and is announced as started once more. If it is
// confirmed, no second end is announced.
//
// # Where the rules come from
//
// The OpenAI Realtime protocol (GA) over WebRTC: output_audio_buffer.started when the
// response begins, stopped when it was heard to its end, cleared when it was cut;
// conversation.item.truncated with audio_end_ms not beyond what was sent. On a
// WebSocket none of these are sent and the client truncates the item itself.
//
// # Where it departs from a simpler machine
//
// If every sound over the agent ended the response, the states Silent and Playing would be enough. Held exists
// because a cough must cost no words. Cut exists because server and client must agree on what was heard; otherwise
// the conversation would keep words that the user did not hear. This machine has no timer: the turn machine owns the
// deadline of the decision (docs/decisions/002), and the driver owns the timers of the two waits.
package playout
