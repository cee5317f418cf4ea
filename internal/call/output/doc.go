// Package output plays the agent's audio and knows how much of it the far end has heard.
//
// A Player has the transport's output, or the estimate of a client that plays by itself. Each response has a Track: its
// audio, where its items begin in that audio, and how much of it was sent. The Player plays one track at a time, holds,
// rewinds and drops it as the playout machine says, and takes the reports of a client that predicts barge-ins.
//
// Files: player.go (one track after another), track.go, client_paced.go (the estimate), reports.go (the client's
// reports, and the estimates in place of late ones), credit.go (how far synthesis runs ahead).
//
// Everything belongs to the session's goroutine but Player.Sent and Credit, which the link's goroutines use.
package output
