// Package httpapi is the server's HTTP surface: it sets up calls over WebRTC and over WebSockets, and ends them.
//
// Each call is a session with goroutines of its own. The Handler keeps a book of the calls, bounded by Config.MaxSessions, and Close joins them all.
//
// # Access
//
// A request comes with an API key or with a client secret, unless the server has no keys. A key belongs to a principal, who pays for what its requests begin. A client secret
// belongs to a principal, too. It is bound to a session's settings, expires, and creates no further secrets (internal/secrets). A call is controlled and ended with the very
// secret that began it, or with a key of the same principal; to everybody else the call does not exist. All wrong keys get the same response, so that nobody learns which keys
// exist.
//
// # Limits
//
// The server counts requests and responses by principal (internal/budget) and events by connection (call.EventLimiter). It refuses an HTTP request with the protocol's error object
// (problem.go). openapi.json describes all requests and responses; the tests compare every request with it.
package httpapi
