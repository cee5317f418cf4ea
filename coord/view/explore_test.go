package view

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// The largest turn that is announced, and the largest response. One above them is known to nobody.
const (
	newestTurn  = 2
	newestReply = 1
)

var inputs = []Input{Candidate{}, Interrupt{}, Write{}, Commit{}, Ask{}, Cancel{}, Clear{}}

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:  Table,
	First:  Closed{},
	States: []State{Closed{}, Open{}, Over{}},
	Events: []Event{
		Opened{},
		Configured{},
		SpeechStarted{},
		SpeechStopped{},
		Committed{},
		Transcribed{},
		Created{},
		Done{},
		Started{},
		Stopped{},
		Cleared{},
		Rejected{},
		Refused{},
		Ended{},
		Candidate{},
		Interrupt{},
		Write{},
		Commit{},
		Ask{},
		Cancel{},
		Clear{},
	},
	Monitor: Monitor,
	May:     may,
	Limits:  "turns 1 and 2, response 1, and one of each that nobody knows",
	Faults: []coordtest.Fault[State, Event, Effect]{
		{
			Name: "a guess is confirmed", From: "Open", Event: "Created", Action: "Create",
			Change: func(_, next State, f []Effect) (State, []Effect) {
				s := next.(Open)
				s.Live = ForeseenResponse
				return s, f
			},
		},
		{
			Name: "what is expected has a name", From: "Open", Event: "Write", Action: "AwaitAnswer",
			Change: func(_, next State, f []Effect) (State, []Effect) {
				s := next.(Open)
				s.Waiting = newestTurn
				return s, f
			},
		},
	},
}

// may offers everything that a server may say, known, stale and unknown. Inputs are replayed after all of it.
func may(_ State, g Seen) []Event {
	var out []Event
	for _, in := range inputs {
		out = append(out, in)
	}
	if g.Guessing {
		return out
	}
	out = append(out, Opened{}, Opened{Interrupts: true, Answers: true}, Rejected{}, Refused{}, Ended{})
	for _, answers := range []bool{false, true} {
		out = append(out, Configured{Answers: answers}, Configured{Interrupts: true, Answers: answers})
	}
	for t := machine.Turn(1); t <= newestTurn; t++ {
		out = append(out, SpeechStarted{t}, Committed{Turn: t}, Committed{t, true})
	}
	for t := machine.Turn(1); t <= newestTurn+1; t++ {
		out = append(out, SpeechStopped{t}, Transcribed{Turn: t}, Transcribed{t, true})
	}
	for r := machine.Response(1); r <= newestReply; r++ {
		out = append(out, Created{r}, Started{r})
	}
	for r := machine.Response(1); r <= newestReply+1; r++ {
		out = append(out, Done{r}, Stopped{r}, Cleared{r})
	}
	return out
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }
