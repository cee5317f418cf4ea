// Package client answers a session's client, and the side-band controllers that join its call.
//
// A Client knows what the client has said of itself (antiphon.hello), keeps the events that come before the session is announced, and decodes each
// event. It asks the rooms that own the affected state, and returns actions for the actor: whatever a client sends is answered, and the session
// goes on. Its methods belong to the session's goroutine.
package client
