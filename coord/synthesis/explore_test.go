package synthesis

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:   Table,
	First:   Open{},
	States:  []State{Open{}, Closing{}, Closed{}},
	Events:  []Event{Enqueue{}, Finish{}, Cancel{}, WorkerExited{}},
	Monitor: Monitor,
	May: func(State, Seen) []Event {
		return []Event{Enqueue{1}, Enqueue{2}, Finish{}, Cancel{}, WorkerExited{}}
	},
	Limits: "clauses 1 and 2",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "says it after all", From: "Closing", Event: "Enqueue", Action: "RefuseLate",
		Change: func(_, next State, f []Effect) (State, []Effect) { return next, []Effect{Say(f[0].(Refuse))} },
	}, {
		Name: "opens again", From: "Closing", Event: "Cancel", Action: "CancelRest",
		Change: func(_, _ State, f []Effect) (State, []Effect) { return Open{}, f },
	}, {
		Name: "wakes too early", From: "Open", Event: "Finish", Action: "Finish",
		Change: func(_, next State, f []Effect) (State, []Effect) { return next, append(f, Wake{}) },
	}},
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Run("SynthesisEnds", func(t *testing.T) {
		running := func(s State) bool { return s != Closed{} }
		exits := func(_ State, e Event) bool { return e == WorkerExited{} }
		closed := func(_, next State) bool { return next == Closed{} }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, running, exits, closed)).To(gomega.BeEmpty())
	})
}
