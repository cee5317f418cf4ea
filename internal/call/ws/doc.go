// Package ws is the server's end of a WebSocket: of a call whose client plays the audio by itself, and of a side-band
// controller. It carries events both ways as text messages and does not read their content.
//
// A Link owns two goroutines, which begin with Begin: one reads the client's events, one writes those of the session. Close and
// Abandon join both. Writing has a deadline, and what waits to be written is bounded: a client that does not read loses its
// connection.
package ws
