// Package bargein is the client's half of an interruption: it predicts, and does only what can be undone. The detector
// beside the microphone says that somebody may be interrupting; the agent is lowered at once and the server is asked. The
// server holds the reply, decides, and says it again from where it was lowered if nobody interrupted.
//
// # The exchange
//
//   - Onset: duck, tell the server of the candidate, arm the deadline. A voice that lasts silences.
//   - Acked names the first packet of the silence that the server sends in place of the reply. When playback has passed it
//     (Passed), the level goes up again and the server hears up to where the reply was heard at full level (SendReady).
//     Only after that it says the rest: nothing of it can be heard lowered.
//   - Rejected: the reply goes on. Confirmed: its packets are dropped, known by their timestamps whatever is still under
//     way, and the server hears how far it was heard (SendHeard).
//   - Expired: no verdict came. The level goes up. Should the server have held after all, it is still told what was heard.
//
// # Invariants
//
//   - LevelIsState: the level is what the state says.
//   - NeverStuckDucked: while the level is down a deadline runs that brings it back.
//   - CandidateOnce: an onset over a reply is one candidate, told after the level is down.
//   - AckIsAwaited: the mark that the server names is waited for.
//   - NoWordLost: a ready says where the reply stopped being heard at full level, once, and after the level is up.
//   - NothingHeardAfterConfirm: an interrupted reply is muted, before the level goes up.
//   - HeardOnce: the server hears what was heard of every reply that it interrupted, once, when that is all.
//   - VerdictOnce: a candidate waits until its own verdict, its deadline, its reply's interruption or the end.
//   - StaleIsHarmless: another candidate's event, an older reply's, change nothing.
//
// Liveness, where every deadline fires: a lowered level goes up, a candidate that waits ends.
//
// # Contract with the driver
//
// Candidates and replies are fresh and count up. Onset comes only while the agent is to be heard, and not for what the
// playback explains; Sustained after 150 to 200 ms of voice. ArmDeadline owes one Expired after 1.5 s; it need not be
// disarmed. AwaitMark owes one Passed when playback has passed the mark, at once if it has already; a newer mark replaces
// an older one. Began and Ended are about the ear, not the wire, and are told as long as they are so: one that came while a
// candidate waited, or was not answered, is told again when that is over. The page's "interrupting" is Pending.
//
// A server that does not know the extension gets none of the Send effects: the driver drops them. It acknowledges nothing
// and rejects nothing, so that the level goes up at its confirmation (speech_started, output_audio_buffer.cleared, a
// cancelled response: which of them is a Confirmed is the view's to say) or at the deadline.
//
// # Where the rules come from
//
// Events and media are two paths, each in order, neither ordered against the other: formal-verification/specs/bargein.fizz has the
// exchange with both ends and all that is under way between them.
//
// # Where it departs from a simpler machine
//
// Ducked and Playing would do if the reply were only lowered for a while: a cough would then cost the words under it.
// Restored exists because audio may overtake its verdict, and must be heard at full level then. Unanswered exists because
// a deadline may come before a slow server's silence does: what was heard at full level is still known.
package bargein
