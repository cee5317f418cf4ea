// Package httpguard protects an HTTP server on the open internet. It limits the connections and requests of each client address,
// and the time that a request's body and a response may take. It finds a client's address behind reverse proxies.
package httpguard
