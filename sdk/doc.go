// Package sdk is Antiphon's client: it holds a voice session with a server that speaks the Realtime protocol.
//
// A [Session] places one call at a time through a [Dialer], turns the server's events into one immutable [Snapshot] after
// another, runs the application's tools, and says in words what went wrong and what to do about it. The package knows no
// platform: sdk/browser supplies the interfaces of peer.go on the browser's own WebRTC, sdk/native on pion or a WebSocket.
//
// # Who writes
//
// Everything that happens to a session (a server's event, a lost link, a call of one of its methods, a timer) enters one
// bounded queue and is handled one at a time, so that no state is ever seen half changed. Whoever puts something into an
// idle queue also drains it; there is no goroutine that waits. Subscribers are called from there, one at a time and in
// order. They may call any method of the session but one that waits ([Session.Connect], [Session.Close],
// [Session.RefreshDevices], [Session.RefreshPipeline]), and should return soon.
//
// # What is shown is what was heard
//
// The agent speaks until its playback has ended, not until its text or its audio has been made. A reply that was
// interrupted is shown as far as it was heard: the session asks the server for the item again and takes its word. Every
// state that waits for somebody else has a deadline and a default (see [Limits]), so no page is left at "listening".
//
// # Prediction
//
// [Snapshot.State] is what the client believes: what the server has said ([Snapshot.Confirmed]), and what it will say to what
// was done here since. A message that was sent is being thought about before the server has it; an answer that was
// interrupted has ended. What the server then says replaces what was believed, and what it does not say in time is
// taken back. [Options.NoPrediction] leaves all of that away.
//
// Somebody who talks over the agent is heard by a [BargeInDetector] beside the microphone. The agent is lowered at once
// ([Snapshot.Interrupting]), and the server is asked; it holds its answer, decides, and says again what was lowered if nobody
// interrupted. Only what can be undone is done before it has decided. With a server that is no Antiphon the agent is lowered
// until that confirms the interruption, or 1.5 s. [Snapshot.Interruptions] counts how well that went.
//
// # A link that is lost
//
// [Reconnecting] is shown until the link is back, and [Snapshot.Err] says what stands in the way. A link that is interrupted
// comes back by itself, or is restarted after two seconds ([Restarter]). One that is broken is followed by another call, with
// growing pauses, until [Limits.Lost] is over: it goes on with the conversation where the server has kept it ([Resumable]),
// with every event of both sides once. Where it has not, or is no Antiphon, a new conversation begins with the words of the
// transcript, and [ErrBegunAnew] says so. What the person writes meanwhile waits, and goes out in its turn.
//
// # Tests
//
// Package sdk/sdktest has a server in memory, a clock that a test turns, and scripts.
package sdk
