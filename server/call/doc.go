// Package call defines what a transport is to a session, without a word of any transport: the package imports neither
// WebRTC nor WebSocket code.
//
// A Link carries a session's events to its client. An Output plays the agent's audio. A Handler is the other direction: the
// transport calls it. What a link or an output can do beyond its interface is optional: Resolve finds it once, when the
// session starts.
//
// Implementations: server/rtc (WebRTC) and server/ws (WebSocket). User: server/session.
package call
