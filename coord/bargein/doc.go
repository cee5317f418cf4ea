// Package bargein is the client's half of a barge-in. It predicts, and does only what can be undone. When the client's
// detector finds speech over the agent, the client ducks the agent at once and tells the server. The server holds the
// response and decides. A held response goes on, and the user hears it ducked, until the server finds that the sound is like the user's
// voice. Only then does the server send silence in its place. If the server rejects the candidate before that, it says nothing again. If
// it rejects the candidate later, it plays the response again from where the client ducked it.
//
// # The exchange
//
//   - Onset: the client ducks, tells the server of the candidate, and arms the deadline. If the sound is like the user's voice
//     (Sustained), the client silences the agent until it pauses (VoiceEnded).
//   - Acked names the first packet of the silence that the server sends in place of the response. When that packet has played
//     (Passed), the client restores the level and reports up to where the user heard the response at full level (SendReady).
//     Only after that does the server send the rest, so the user hears none of the rest ducked.
//   - Rejected: the response goes on. If the client has silenced it since and no server's silence has come, the user has missed words of which
//     the server knows nothing. The client then asks the server by SendReady to go back to where it ducked the response.
//   - Confirmed: the client drops the packets of the response, also those that are still on their way; it knows them by their
//     timestamps. It reports how far the user heard the response (SendHeard).
//   - Expired: no verdict came in time. The client restores the level. If the server held the response after all, the client
//     still reports what the user heard.
//
// # Invariants
//
//   - LevelIsState: the level of the agent is the one that belongs to the state.
//   - NeverStuckDucked: while the level is not full, the deadline of the waiting candidate runs. The deadline restores the level.
//   - CandidateOnce: an onset while a response plays makes one new candidate. The client sends it once, after it has lowered the level.
//   - AckIsAwaited: the client waits until playback reaches the position that the server named (Acked).
//   - NoWordLost: when playback reaches the server's silence, or when a candidate is rejected for which the client has silenced the response,
//     the client sends one SendReady, after the level is full again. It names the position up to which the response was played at full level.
//   - NothingHeardAfterConfirm: when the server has interrupted a response, the client mutes it once, before the level is full again.
//   - HeardOnce: for every response that the server interrupted, the client reports once how far it has played it, after the mute.
//   - VerdictOnce: the state and the monitor agree on the candidate that waits. It waits until its own verdict, its deadline, the interruption
//     of its response, or the end of the connection.
//   - StaleIsHarmless: an event of another candidate or of an older response changes nothing. Nor does any event after the end.
//
// Liveness, if every deadline fires: a lowered level goes up, and the wait of every candidate ends.
//
// # Contract with the driver
//
// The numbers of candidates and responses are fresh and count up. The driver sends Onset only while the user hears the agent,
// and not for the agent's echo. It sends Sustained when the sound is like the user's voice, some 200 ms after the onset. For each ArmDeadline it sends one Expired
// after 1.5 s; it need not disarm the timer. For each AwaitPosition it sends one Passed when playback has reached the position, at
// once if that is so already. A newer AwaitPosition replaces an older one. Where a rejection sends
// SendReady, the driver keeps the level down until the server has gone back, for 1.5 s at the most: what is under way comes again. Began and Ended say what the user hears, not what has arrived.
// The machine ignores Began and Ended while a candidate waits or is unanswered. When that is over, the driver sends the one of
// the two that is true at that moment. While Pending returns a candidate, the page shows that the user may be interrupting.
//
// For a server that does not know the extension, the driver drops all Send effects. Such a server acknowledges nothing and
// rejects nothing. The level goes up at its confirmation or at the deadline. The confirmation is speech_started,
// output_audio_buffer.cleared or a cancelled response; the view decides which of them is a Confirmed.
//
// # Where the rules come from
//
// Events and media take two paths. Each path keeps its order, but an event and a packet may overtake each other.
// formal-verification/specs/bargein.fizz models both ends of the exchange and all that is on its way between them.
//
// # Where it departs from a simpler machine
//
// If the client only ducked the response for a while, the states Ducked and Playing would be enough; but then the user would not
// hear the words that were spoken during a cough. Restored exists because audio may overtake its verdict, and the user must
// then hear it at full level. Unanswered exists because the deadline may come before the silence of a slow server; this
// state still knows what the user heard at full level.
package bargein
