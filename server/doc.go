// Package server is Antiphon's server as an http.Handler: it speaks the OpenAI Realtime protocol over WebRTC and WebSockets, and a
// voice pipeline answers. See examples/embed-server for a program that embeds it.
package server
