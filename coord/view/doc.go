// Package view is what a client can know of a session: what the server has said of it (confirmed), and what the client
// expects of what it has done since (predicted).
//
// # The state
//
// A session's machines are the server's; the client hears their effects, which are the events of the protocol, and not all
// of them. State is what these tell: the turn that is announced, the turn that waits for its answer, the response that is
// live, the one that sounds, and the two settings that decide what follows. Next takes one such event, or one input: what
// the client has done, replayed on what is confirmed. Package view/projection says what a whole session comes to in this
// state, and which event each effect is.
//
// # Invariants of the table
//
//   - SpeechIsAnnounced: Speech is the turn that was announced and not stopped.
//   - WaitingIsOwed: Waiting is the turn that the server took in to answer, until it does, or there are no words in it.
//   - LiveIsAnnounced: Live is the response that was created and is not done.
//   - SoundIsAnnounced: Sound is the response that has started and neither stopped nor been cleared.
//   - SettingsAreTold: the settings are those that came last.
//   - OpenBetween: a session is open from the first event to the last, and is over once.
//   - StaleIsHarmless: the end of another turn or response changes nothing.
//   - ServerNeverGuesses: what the server says is no guess, and leaves none where there was none.
//   - InputsOnlyGuess: an input ends something or expects something; it never names a turn or a response.
//   - InputsWantASubject: an input that there is nothing for, or that would be refused, changes nothing; any other is expected to
//     do what it is for.
//
// # Invariants of the model
//
//   - ConfirmedIsProjection: after every step of the server whose events have all come, what is confirmed is the
//     projection of the server's state in that step (package view/projection; view.fizz).
//   - PredictedIsReplay: predicted is confirmed with the pending inputs replayed, the oldest first.
//   - ConfirmedNeverGuesses: no input ever touches what is confirmed.
//   - AcknowledgedOnce: an input is pending until its answer, its result or its deadline, whichever is first; once.
//   - QuietIsEqual: where no input is pending, predicted and confirmed are the same.
//   - Bounded: at most Most inputs are pending; one more is not predicted.
//
// Liveness, where every input's deadline comes: PredictionEnds.
//
// # Contract with the driver
//
// Turns and responses are numbered by the driver as they appear, each name once; only their equality counts. A turn's name
// is its item's. It tells all events of the list, in their order, and nothing of responses beside the conversation
// (conversation_id null). Settings are those of session.created and session.updated, both false where turn_detection is
// null or the session only transcribes. Ended is told when the transport is gone for good; a new session is a new Model.
//
// ByClient of a committed turn is what the wire does not say. It is told of the first committed turn after the client's own
// commit was sent, unless an error names that. Where a turn that the detector has committed is on its way just then, it is
// taken for the client's: it is not seen to wait, until its response is created.
//
// An input is told before its message is sent, and gets a number; the driver keeps which event id that is and arms the
// input's deadline. Hear is told the number where the server's event names it (an error's event_id, the candidate of a
// verdict), and 0 elsewhere; an antiphon.ack answers no input by itself. At the deadline the driver calls Drop: the default
// verdict of every prediction is that nothing came of it.
//
// Over a WebSocket the client plays by itself: Started, Stopped and Cleared do not come, and Sound stays 0.
//
// # What is predicted, and what is not
//
// The user speaks or may be interrupting, the agent is interrupted, a message or a commit waits for its answer, a response
// is created, a response is cancelled, its sound is cleared. Truncation, tool calls and what the server's detector commits are not: what
// follows from them cannot be undone, or is the server's to know.
//
// # Where it departs from a simpler machine
//
// The client could keep one state and let both the server and itself change it. A guess that turns out wrong could then
// not be taken back, since nobody knows what the state would be without it. Here it is forgotten by not being replayed.
package view
