// Package signal is the server's HTTP surface: it sets calls up and takes them down. A call over WebRTC and one over a
// WebSocket are two links in front of the same session actor.
//
// Each call is a Session with goroutines of its own; the Handler keeps a book of them, bounded by Config.MaxSessions,
// and Close joins them all.
//
// # Who may
//
// A request comes with an API key or with a client secret, unless the server has no keys. A key belongs to a principal, who
// pays for what is begun with it; a client secret is a principal's too, has a session bound into it, ends by itself, and makes
// no further ones (secrets.go). A call is controlled and ended with the very secret that has begun it, or with a key of the
// same principal; for anyone else it is not there. Nothing tells which keys exist: every wrong one has the same answer.
//
// # What it takes
//
// Requests and responses are counted by principal (budget.go), events by connection (call.EventLimiter). What is refused over HTTP
// is answered with the protocol's error object (problem.go). openapi.json describes all requests and answers; every request
// of the tests is compared with it.
//
//	routes.go                    the routes
//	guard.go, keys.go            origins, keys, who asks
//	call.go                      calls over WebRTC
//	socket.go                    WebSockets: calls, and side-band control
//	reconnect.go                 clients that reconnect
//	clientsecret.go, secrets.go  client secrets: the request, and the store
//	budget.go                    requests and tokens a minute
package signal
