// Package tool has the tools that the server runs itself when the model calls them. The tools of a session's client are not here: the client
// runs those.
//
// A Set belongs to the whole server. Files: tool.go (a tool, a set of tools), http.go (a tool that asks an HTTP server).
package tool
