// Package sdktest lets an application test itself against a voice session without a server, a network, a microphone or a
// moment's waiting.
//
//   - [Server] is an sdk.Dialer: what it is told to send, the session hears; what the session sends, a test expects. It plays
//     whole turns and answers in one call, single events, scripts, and everything that a good server never does.
//   - [Clock] is an sdk.Clock that a test turns.
//   - [Handler] speaks over a real WebSocket, for clients that are not a Session (not in a browser).
//
// With a session that [Server.Connect] has made, what is told has been handled when the call returns, but for what the session
// leaves to others: ending a call, running a tool. [Server.Expect] and [Await] wait for those.
//
// A script is a list of steps, one a line; empty lines and those that begin with # are left out:
//
//	expect TYPE          the next event of the session's is of this type
//	send JSON            the server sends this text, whether it is an event or not
//	advance DURATION     the clock goes on, such as 1.5s
//	tell WHAT            what happens to the call: opened, lost, restored, broken, ended, voice, lasted, hushed, unplugged
package sdktest
