// Package sdk is Antiphon's client: it holds a voice session with a server that speaks the Realtime protocol.
//
// A [Session] places one call at a time through a [Dialer]. It turns the server's events into one immutable [Snapshot] after
// another, runs the application's tools, and says in words what went wrong and what to do about it. The package knows no platform:
// sdk/browser implements the interfaces of peer.go on the browser's own WebRTC, sdk/native on pion or a WebSocket.
//
// # Who writes
//
// Everything that happens to a session (a server event, a lost connection, a call of a method, a timer) is a job in one bounded
// queue. Jobs run one at a time, so nobody sees a state that is half changed. The goroutine that puts a job into an idle queue runs
// the queue until it is empty; no goroutine waits for jobs. Jobs call the subscribers, one at a time and in order. A subscriber may
// call any method of the session except those that wait ([Session.Connect], [Session.Close], [Session.RefreshDevices],
// [Session.RefreshPipeline]), and should return soon.
//
// A session takes the time, goroutines and random numbers from [Options], and asks the runtime for none of them.
//
// # The transcript shows the words that were heard
//
// The agent speaks until its playback has ended, not until its text or its audio is complete. The transcript shows an interrupted
// response as far as the user heard it: the session asks the server for the item again and shows the server's answer. Every state
// that waits for the server or the user has a deadline and a default (see [Limits]), so no page stays at "listening" for ever.
//
// # Prediction
//
// [Snapshot.Confirmed] is the confirmed state: what the server has said. [Snapshot.State] is the predicted state: the confirmed one
// with what the server will say about the inputs of this client. After a message, for example, the predicted state is [Thinking]
// before the server has the message. An event of the server replaces the prediction. The session takes a prediction
// back that the server does not confirm in time. [Options.NoPrediction] turns prediction off.
//
// A [BargeInDetector] beside the microphone finds speech over the agent. The client ducks the agent at once
// ([Snapshot.Interrupting]) and asks the server. The server holds its response and decides. If nobody interrupted, it plays the
// ducked sound again. Before the decision the client does only what can be undone. With a server without Antiphon's extensions the agent
// stays ducked until that server confirms the interruption, for at most 1.5 s. [Snapshot.Interruptions] counts how well the
// predictions were.
//
// # A lost connection
//
// The state is [Reconnecting] until the connection is back, and [Snapshot.Err] says why it is not. A connection is lost when the peer says
// so, or when no packet has come for 1.5 s ([PacketsCounted]). An interrupted connection comes back by itself, or the session restarts it
// ([Restarter]): after two seconds, or at once if no packet comes or the client has moved to another address.
// After a broken connection the session dials again, with growing pauses, until [Limits.Lost] is over. If the server has kept the conversation, the new call goes on with it
// ([Resumable]), and each side gets every event once. If it has not, or has no extensions, a new conversation begins with the words of
// the transcript, and Snapshot.Err is [ErrBegunAnew]. What the user writes meanwhile waits and is sent in order.
//
// # Tests
//
// Package sdk/sdktest has a server in memory, a clock that a test turns, and scripts.
package sdk
