// Package generation makes responses: it asks the model, has the synthesizer say the text clause by clause, and sends the
// protocol's events of each response, its parts and its items.
//
// A Generator has every response of a session, in the conversation and out of band, until nothing of it is left. One type,
// Response, serves both: an out-of-band response has a response machine and a synthesis machine of its own, the others
// use the session's. What a response has come to is a state of coord/generation.
//
// Files: generator.go (the responses and their machine), body.go (the goroutines), body_events.go (what they report),
// items.go and clauses.go (text), terminal.go (the end), out_of_band.go, causes.go (what a response is for), request.go
// (what the model is asked), usage.go.
//
// Everything belongs to the session's goroutine but the goroutines of a body, which only post events.
package generation
