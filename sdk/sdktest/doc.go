// Package sdktest lets an application test itself with a voice session, without a server, a network, a microphone or real time.
//
//   - [Server] is an sdk.Dialer. A test makes it send events to the session, and expects the events that the session sends. One
//     call of a method plays a whole turn or answer; there are also single events, scripts, and faults of a server.
//   - [Clock] is an sdk.Clock that a test turns.
//   - [Handler] speaks over a real WebSocket, for clients that are not a Session (not in a browser).
//
// With a session that [Server.Connect] has made, the session has handled an event when the call that sent the event returns. Only
// the end of a call and the run of a tool go on in other goroutines; [Server.Expect] and [Await] wait for those.
//
// A script is a list of steps, one a line; empty lines and those that begin with # are left out:
//
//	expect TYPE          the next event of the session's is of this type
//	send JSON            the server sends this text, whether it is an event or not
//	advance DURATION     the clock goes on, such as 1.5s
//	tell WHAT            what happens to the call: opened, lost, restored, broken, ended, unplugged, or what the detector finds:
//	                     speech-onset, speech-sustained, speech-ended
package sdktest
