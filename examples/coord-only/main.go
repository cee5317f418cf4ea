// Command coord-only plays a conversation through Antiphon's state machines
// and prints what a voice server would have to do. It imports nothing of
// Antiphon but coord: no transport, no clock, no audio. A voice server of your
// own is the loop below with real events and real effects.
package main

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

type happening struct {
	said  string
	heard uint32 // how much of the response has been heard, in milliseconds
	event session.Event
}

func story() []happening {
	return []happening{
		{"the caller is connected", 0, session.OfConn{Event: conn.Opened{VAD: true}}},
		{"the caller asks something", 0, session.OfTurn{Event: turn.Onset{}}},
		{"and falls silent", 0, session.OfTurn{Event: turn.Silence{Turn: 1}}},
		{"the words are recognised", 0, session.OfTranscription{Event: transcription.Done{Turn: 1}}},
		{"the answer has its first sound", 0, session.OfPlayout{Event: playout.Begin{Resp: 1}}},
		{"the caller coughs", 900, session.OfTurn{Event: turn.Onset{}}},
		{"it was only a cough", 900, session.OfTurn{Event: turn.Misfire{Turn: 2}}},
		{"the caller says: wait", 2100, session.OfTurn{Event: turn.Onset{}}},
		{"it is an interruption", 2100, session.OfTurn{Event: turn.Sustained{Turn: 3}}},
		{"the answer's work has stopped", 2100, session.OfResponse{Event: response.BodyEnded{ID: 1, Status: response.TurnDetected}}},
	}
}

func main() {
	state := session.New(session.Config{Interrupt: true, CreateResponse: true})
	for _, h := range story() {
		fmt.Println(h.said)
		next, effects, _ := session.Next(state, playout.Position{Item: 1, MS: h.heard}, h.event)
		state = next
		for _, effect := range effects {
			fmt.Printf("    %s %+v\n", effect.Name(), effect)
		}
	}
}
