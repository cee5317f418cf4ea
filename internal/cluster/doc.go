// Package cluster has several servers on one store work as one for their clients: a request about a call reaches the server that has the call, whichever
// server gets it.
//
// Each server publishes its address, its load and whether it drains, every second. The id and the token of a call contain the mark of the server that
// made them, so a server finds the owner of a call without asking anybody. A server that takes a call over from another one publishes that in addition. A request goes to the owner over HTTP, at most once: its header Antiphon-Node says so,
// with the client's address, under a seal whose key is in the store.
//
//	node.go     a server joins, publishes its record, and reads those of the others
//	table.go    what a server knows of the others
//	adopted.go  the calls that a server has taken over, and which server has a call now
//	mark.go     the marks in ids and tokens, and the seal of a request that is passed on
//	pass.go     passes a request on, within a time
//	place.go    chooses the server for a new call
//	use.go      what principals use of the other servers
//	key.go      the keys that all servers have
//	secrets.go  client secrets that all servers know
package cluster
