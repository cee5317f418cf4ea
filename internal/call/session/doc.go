// Package session is the actor of one call. It owns the queue, the state machines of coord and the link, and performs what the machines decide.
// A Client (client.go) knows what the client has sent, decodes each event, and calls the room that must act on it. A Lifetime (lifetime.go) decides how long the session
// lives. The rest of the state belongs to the rooms: listening, speaking, conversation, runs and survival.
//
// # The actor
//
// One goroutine (session.go) takes one event from the queue (events.go), steps the machines (perform.go), performs their effects in order, and
// then does everything that follows from that (settle). There are no locks. Every other goroutine only posts to the queue: the transport's, the
// timers', those of recognitions and of responses. The queue is bounded. Control events wait for room; audio is dropped and counted when
// the queue is nearly full.
//
// Every action that a client's event causes carries the event's origin: an error goes to the sender of the event (client.go).
//
// # Settings
//
// Every field of the session and of response.create is honoured, is refused, or comes back as null. The settings of a response
// are fixed when it is created; a changed setting applies from the next response on.
//
// # Barge-ins
//
// Package listening decides whether speech over the agent is a barge-in. A client that predicts barge-ins sends antiphon.hello with barge_in. The
// Client carries its reports to package speaking, which maps its RTP timestamps to positions; coord/bargein is the client's half.
//
// # Faults
//
// A stage that panics has failed: its response or its transcript ends with an error. An actor that panics ends its own session
// and no other. Whatever a client sends is answered.
//
// # The end
//
// A session ends in two steps. First the machines stop their children. When the last body has ended, the actor cancels the session's
// context, stops the timers, joins every goroutine and closes the link. Then Done is closed.
package session
