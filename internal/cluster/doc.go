// Package cluster has several servers on one store work as one for their clients: a request about a call reaches the server that has the call, whichever
// server gets it.
//
// Each server publishes its address, its load and whether it drains, every second. The id and the token of a call contain the mark of the server that
// made them, so a server finds the owner of a call without asking anybody. A server that takes a call over from another one publishes that. A server passes a request on over HTTP. The header
// Antiphon-Node, with a seal whose key is in the store, has the client's address, and says that the request is not to be passed on again.
//
//	node.go     a server joins, publishes its record, and reads those of the others
//	table.go    what a server knows of the others
//	adopted.go  the calls that a server has taken over, and which server has a call now
//	mark.go     the marks in ids and tokens, and the seal of a request that is passed on
//	pass.go     passes a request on, within a time
//	place.go    chooses the server for a new call
//	use.go      the calls, requests and tokens of principals on the other servers
//	key.go      the keys that all servers have
//	secrets.go  client secrets that all servers know
package cluster
