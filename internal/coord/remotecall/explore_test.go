package remotecall

// The exploration of the machine, its stories (testdata/*.txt) and its diagram.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:   Table,
	First:   Writing{},
	States:  []State{Writing{}, Asking{}, Running{}, Over{}},
	Events:  []Event{Complete{}, Answer{}, Ended{}, Cut{}, Lost{}},
	Monitor: Monitor,
	May: func(State, Seen) []Event {
		return []Event{Complete{}, Complete{Ask: true}, Answer{}, Answer{Approve: true}, Ended{}, Cut{}, Lost{}}
	},
	Limits: "every event in every state",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "calls again", From: "Running", Event: "Lost", Action: "LoseOutcome",
		Change: func(State, State, []Effect) (State, []Effect) { return Running{}, []Effect{Call{}} },
	}, {
		Name: "does not ask", From: "Writing", Event: "Complete", Action: "Ask",
		Change: func(State, State, []Effect) (State, []Effect) { return Running{}, []Effect{Call{}} },
	}, {
		Name: "calls what was denied", From: "Asking", Event: "Answer", Action: "Deny",
		Change: func(State, State, []Effect) (State, []Effect) { return Running{}, []Effect{Call{}} },
	}, {
		Name: "makes an outcome up", From: "Running", Event: "Lost", Action: "LoseOutcome",
		Change: func(_, next State, _ []Effect) (State, []Effect) { return next, []Effect{Deliver{}} },
	}},
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Run("RunningEnds", func(t *testing.T) {
		runs := func(s State) bool { _, is := s.(Running); return is }
		ends := func(_ State, e Event) bool { return e == Event(Ended{}) }
		over := func(_, next State) bool { _, is := next.(Over); return is }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, runs, ends, over)).To(gomega.BeEmpty())
	})
}

func TestStories(t *testing.T) { coordtest.Stories(t, subject) }

func TestDiagram(t *testing.T) { coordtest.Diagram(t, Table, subject.First) }
