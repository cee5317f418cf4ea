package draft

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// The explored domain: the numbers of the drafts and of the turns.
const (
	newestGen  = 3
	newestTurn = 2
)

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:   Table,
	First:   Idle{},
	States:  []State{Idle{}, Busy{}, Writing{}, Waiting{}, Terminated{}},
	Events:  []Event{Likely{}, Resumed{}, Committed{}, Dropped{}, Failed{}, Began{}, Over{}, Shutdown{}},
	Monitor: Monitor,
	May:     may,
	Limits:  "drafts to 3, turns to 2",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "keeps the draft when speech goes on", From: "Writing", Event: "Resumed", Action: "Resume",
		Change: func(from, _ State, _ []Effect) (State, []Effect) { return from, nil },
	}, {
		Name: "adopts before the commit", From: "Writing", Event: "Began", Action: "BeginOther",
		Change: func(from, next State, _ []Effect) (State, []Effect) {
			return next, []Effect{Adopt{from.(Writing).Gen}}
		},
	}, {
		Name: "adopts a draft of another input", From: "Waiting", Event: "Began", Action: "BeginOther",
		Change: func(from, next State, _ []Effect) (State, []Effect) {
			return next, []Effect{Adopt{from.(Waiting).Gen}}
		},
	}, {
		Name: "writes beside a body", From: "Busy", Event: "Likely",
		Change: func(from, _ State, _ []Effect) (State, []Effect) {
			gen := from.(Busy).Gen + 1
			return Writing{Gen: gen, Turn: 1}, []Effect{Start{gen}}
		},
	}, {
		Name: "forgets to stop the older draft", From: "Writing", Event: "Likely", Action: "StartAgain",
		Change: func(_, next State, f []Effect) (State, []Effect) { return next, f[1:] },
	}},
}

// may offers every event, with every turn of the domain, and with every draft that was or never began.
func may(_ State, g Seen) []Event {
	out := []Event{Resumed{}, Dropped{}, Began{}, Began{Matches: true}, Over{}, Shutdown{}}
	for turn := range machine.Turn(newestTurn) {
		if g.Gen < newestGen {
			out = append(out, Likely{turn + 1})
		}
		out = append(out, Committed{turn + 1})
	}
	for gen := range g.Gen + 2 {
		out = append(out, Failed{gen})
	}
	return out
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Run("DraftEnds", func(t *testing.T) {
		waits := func(s State) bool { _, is := s.(Waiting); return is }
		ends := func(s State, e Event) bool {
			return waits(s) && (e == Began{} || e == Began{Matches: true} || e == Dropped{})
		}
		gone := func(_, next State) bool { return !waits(next) }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, waits, ends, gone)).To(gomega.BeEmpty())
	})
}
