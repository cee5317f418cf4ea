// Package link has the interfaces between a session and its transport. It depends on no transport: the package imports neither
// WebRTC nor WebSocket code.
//
// A Link carries a session's events to its client. An Output plays the agent's audio. A Handler is the other direction: the
// transport calls it. A link and an output may implement further, optional interfaces: Resolve finds them once, when the
// session starts.
//
// Implementations: internal/call/rtc (WebRTC) and internal/call/ws (WebSocket). User: internal/call/session.
package link
