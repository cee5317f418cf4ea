// Package relay is a TURN server (RFC 8656) for clients whose network lets no packet through to the media port of the calls. It relays to
// the media addresses of this server and to nothing else, so that nobody can use it as a proxy. Its credentials live for minutes and
// are made from a shared secret, as those of coturn's option use-auth-secret are.
//
// A Server owns the goroutines of pion's TURN server. Close joins them.
package relay
