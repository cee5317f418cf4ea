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
// The states shown here are the server's word. flow.go is the only place that decides them; it is where a prediction made
// by the client can be laid over what the server has confirmed.
package sdk
