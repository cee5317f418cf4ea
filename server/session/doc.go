// Package session is the actor behind one call: it owns all of a session's state and performs what the machines
// of coord decide.
//
// # Goroutines
//
//   - run, one a session: takes events from the queue, steps coord/session, performs the effects in order. All
//     fields of Session that have no comment of their own belong to it; there are no locks.
//   - one a recognition (package speech): feeds the recogniser and reports its results.
//   - two a response (body.go): the model's text, and the voice that says it. One response belongs to the conversation; up to
//     eight more run beside it (beside.go), each with a response machine of its own.
//   - timers: each posts an event that carries the generation it was armed for.
//   - the transport's own: they post messages and audio. The pacer of a call tells what was sent.
//
// Everything but run talks to the session by posting to its queue. The queue is bounded: control events wait
// (back-pressure), audio is dropped and counted when the queue is nearly full.
//
// # Settings
//
// Every field of the session and of response.create is honoured, refused, or comes back as null: settings.go, transcribing.go and
// request.go say which. What a response asks for itself is fixed when it is created; the session's settings count for the next one.
//
// # Interruptions
//
// The judge of package input decides whether speech over the agent is a barge-in. A client may predict them (antiphon.hello with barge_in): bargein.go is the
// server's half of that exchange, coord/bargein the client's. What such a client says of its playback are RTP timestamps, and a
// call.Timeline knows what they are in the reply.
//
// # Faults
//
// A stage that panics has failed: its response or its transcript ends with an error (contain.go). An actor that panics
// ends its own session and no other. Whatever a client sends is answered with an error that names the event.
//
// # Ends
//
// Closing takes two steps: the machines stop their children; when the last body has ended, run cancels the session's
// context, joins every goroutine, closes the link, and is done. Done is closed after that.
package session
