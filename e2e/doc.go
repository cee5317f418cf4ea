// Package e2e tests the server and the client together over real WebRTC and WebSockets, on the loopback device, in real time. The
// server's answers are scripted, so the tests can check every word. They measure the agent's sound where it arrives at the client.
// Package check compares all events with the protocol's rules.
//
// The tests of this package need nothing installed. Those in a browser have a folder of their own.
package e2e
