package compaction

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

const newestGen = 3 // largest run of the explored domain

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:   Table,
	First:   Idle{},
	States:  []State{Idle{}, Running{}, Terminated{}},
	Events:  []Event{Trigger{}, Finished{}, Shutdown{}},
	Monitor: Monitor,
	May:     may,
	Limits:  "runs to 3",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "the run keeps its generation", From: "Running", Event: "Finished", Action: "FinishAndStart",
		Change: func(from, _ State, f []Effect) (State, []Effect) {
			gen := from.(Running).Gen
			return Running{Gen: gen}, []Effect{f[0], Start{gen}}
		},
	}, {
		Name: "forgets the trigger", From: "Running", Event: "Finished", Action: "FinishAndStart",
		Change: func(from, _ State, f []Effect) (State, []Effect) { return Idle{from.(Running).Gen}, f[:1] },
	}, {
		Name: "runs once more for nothing", From: "Running", Event: "Finished", Action: "Finish",
		Change: func(from, _ State, f []Effect) (State, []Effect) {
			gen := from.(Running).Gen + 1
			return Running{Gen: gen}, append(f, Start{gen})
		},
	}, {
		Name: "begins at once", From: "Running", Event: "Trigger", Action: "Remember",
		Change: func(from, _ State, _ []Effect) (State, []Effect) {
			gen := from.(Running).Gen + 1
			return Running{Gen: gen}, []Effect{Start{gen}}
		},
	}, {
		Name: "applies the next run's", From: "Running", Event: "Finished", Action: "Finish",
		Change: func(_, next State, f []Effect) (State, []Effect) { return next, []Effect{Apply{f[0].(Apply).Gen + 1}} },
	}},
}

// may offers the report of every run that was and of one that never began.
func may(_ State, g Seen) []Event {
	out := []Event{Shutdown{}}
	if g.Gen < newestGen {
		out = append(out, Trigger{})
	}
	for gen := range g.Gen + 2 {
		out = append(out, Finished{gen})
	}
	return out
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Run("OverflowIsEventuallyCompacted", func(t *testing.T) {
		owed := func(s State) bool { r, is := s.(Running); return is && r.Again }
		ends := func(s State, e Event) bool { r, is := s.(Running); return is && e == Finished{r.Gen} }
		newer := func(s, next State) bool { r, is := next.(Running); return is && r.Gen > s.(Running).Gen }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, owed, ends, newer)).To(gomega.BeEmpty())
	})
}
