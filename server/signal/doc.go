// Package signal is the server's HTTP surface: it sets calls up and takes them down. A call over WebRTC and one over a
// WebSocket are two links in front of the same session actor.
//
// Each call is a Session with goroutines of its own; the Handler keeps a book of them, bounded by Config.MaxSessions,
// and Close joins them all.
package signal
