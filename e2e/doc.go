// Package e2e tests the server and the client together, as people use them: over real WebRTC and WebSockets, on the
// loopback device, in real time. What the server answers is scripted, so that every word can be checked; what is heard is
// measured where it arrives. All that passes is held against the protocol's rules (package check).
//
// The tests of this package need nothing installed. Those in a browser have a folder of their own.
package e2e
