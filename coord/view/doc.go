// Package view is what a client can know of a session. The confirmed state is what the server has said. The predicted state
// adds what the client expects of its own inputs that the server has not answered yet.
//
// # The state
//
// The server runs the machines of a session. Some of their effects are events of the protocol, and only those reach the
// client. State has what these events say: the turn that is announced, the turn that waits for its answer, the live
// response, the response that plays, and the two settings that decide what follows. Next takes one such event. It also takes
// an input, which is an action of the client; Model replays the inputs on the confirmed state. Package view/projection
// computes this state from a whole session, and says which event each effect is.
//
// # Invariants
//
//   - SpeechIsAnnounced: Speech is the turn that was announced and not stopped.
//   - WaitingIsOwed: Waiting is the committed turn that the server will answer, until its response is created or its transcript is empty.
//   - LiveIsAnnounced: Live is the response that was created and is not done.
//   - SoundIsAnnounced: Sound is the response that has started and neither stopped nor been cleared.
//   - SettingsAreTold: the settings are those that the server sent last.
//   - OpenBetween: a session is open from the first event to the last, and is over once.
//   - StaleIsHarmless: the end of another turn or response changes nothing.
//   - ServerNeverGuesses: an event of the server adds no prediction to a state.
//   - InputsOnlyGuess: an input ends something or expects something; it never names a turn or a response.
//   - InputsWantASubject: an input changes nothing if there is nothing that it could act on, or if the server would refuse it. Otherwise the
//     next state has the effect that the input is for.
//
// # Invariants of the model
//
//   - ConfirmedIsProjection: when all events of a step of the server have come, the confirmed state is the projection of the
//     server's state after that step (package view/projection; view.fizz).
//   - PredictedIsReplay: the predicted state is the confirmed state with the pending inputs replayed, the oldest first.
//   - ConfirmedNeverGuesses: no input ever changes the confirmed state.
//   - AcknowledgedOnce: an input is pending until its answer, its result or its deadline, whichever is first; once.
//   - QuietIsEqual: if no input is pending, the predicted and the confirmed state are the same.
//   - Bounded: at most Most inputs are pending; one more is not predicted.
//
// Liveness, where every input's deadline comes: PredictionEnds.
//
// # Contract with the driver
//
// The driver gives a number to each turn and response when it appears; only the equality of numbers counts. A turn has the
// name of its item. The driver gives the model all events of the list, in their order, but no event of an out-of-band response
// (conversation_id null). The settings are those of session.created and session.updated; both are false if turn_detection is
// null or the session only transcribes. The driver sends Ended when the connection is lost for good; a new session needs a new
// Model.
//
// The protocol does not say whether the client's own commit ended a turn (ByClient). The driver sets ByClient for the first
// committed turn after it has sent a commit, unless an error names that commit. If the event of a turn that the detector has
// committed is on its way at that moment, the driver takes that turn for the client's. The state then does not show that the
// turn waits, until its response is created.
//
// The driver gives an input to the model before it sends the input's message, and gets a number for it. The driver remembers
// which event id has this number, and arms a deadline. Hear and Take get the number if the server's event names the input (the
// event_id of an error, the candidate of a verdict), and 0 otherwise. An antiphon.ack alone answers no input. At the deadline the
// driver calls Drop or Forget, which take the prediction back.
//
// Over a WebSocket the client plays by itself: Started, Stopped and Cleared do not come, and Sound stays 0.
//
// # What is predicted, and what is not
//
// Predicted: the user speaks or may be interrupting, the agent is interrupted, a message or a commit waits for its answer, a
// response is created or cancelled, its audio is cleared. Not predicted: truncation, tool calls, and the commits of the server's
// detector. Their results cannot be undone, or only the server knows them.
//
// # Where it departs from a simpler machine
//
// The client could keep one state and let both the server and itself change it. A wrong prediction could then
// not be taken back, because no state without it would be left. Here the model drops the input and no longer replays it.
package view
