// Package server is Antiphon's server as an http.Handler: the OpenAI Realtime protocol over WebRTC and WebSocket in
// front of a voice pipeline. See examples/embed-server for a program that embeds it.
package server
