// Package audio carries the sound of one telephone call: it reads and writes SDP, and sends and receives RTP or SRTP on a socket of its own.
//
// A Stream belongs to one call. It sends where the far end's SDP says. It takes packets from the address that the SDP names, or from the address that the call's
// signalling came from. The first good packet decides for the rest of the call, so that nobody else is heard.
package audio
