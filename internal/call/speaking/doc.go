// Package speaking makes responses and plays them. It asks the model, lets the synthesizer speak the text clause by clause, and sends the
// protocol's events of each response, its parts and its items.
//
// A Generator has every response of a session, in the conversation and out of band, until its body, its audio and its events have ended. One type,
// Response, serves both: an out-of-band response has a response machine and a synthesis machine of its own, the others
// use the session's. The progress of a response is a state of coord/generation.
//
// Files: generator.go (the responses and their machine), body.go (the goroutines), body_events.go (their reports),
// items.go and clauses.go (text), terminal.go (the end), out_of_band.go, causes.go (the causes of responses), lost.go (responses of an earlier session), request.go
// (the model's input), tools.go (the tools that the server runs), usage.go.
//
// A Player plays one track of audio at a time, and knows what the far end has heard. Files: player.go, track.go (the audio of one response), reports.go (the reports of a
// client that predicts barge-ins), soft.go (a held response that goes on softly), client_paced.go (the output of a client that plays by itself), credit.go (how far the synthesizer may run ahead).
//
// Everything belongs to the session's goroutine but the goroutines of a body and of a tool, which only post events, and Player.Sent.
package speaking
