package transcription

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

const newest = 2 // largest turn of the explored domain

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:  Table,
	First:  Closed{},
	States: []State{Closed{}, Opening{}, Streaming{}, Finalizing{}, Unavailable{}},
	Events: []Event{
		Open{}, Ready{}, Refuse{}, EOU{}, Resumed{}, Finish{}, Decode{}, Done{}, Failed{}, Abandon{}, Shutdown{},
	},
	Monitor: Monitor,
	May:     may,
	Limits:  "turns 1 and 2",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "forgets the end", From: "Streaming", Event: "EOU", Action: "EndUtterance",
		Change: func(from, _ State, f []Effect) (State, []Effect) { return from, f },
	}},
}

// may offers everything of every turn: a back end may say anything at any time.
func may(State, Seen) []Event {
	out := []Event{Shutdown{}}
	for t := machine.Turn(1); t <= newest; t++ {
		out = append(out, Open{t}, Ready{t}, Refuse{t}, EOU{t}, Resumed{t}, Finish{t}, Decode{t},
			Done{t, false}, Done{t, true}, Failed{t}, Abandon{t})
	}
	return out
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	opening := func(s State) bool { _, is := s.(Opening); return is }
	finalizing := func(s State) bool { _, is := s.(Finalizing); return is }
	answered := func(_, next State) bool { return !finalizing(next) }
	failed := func(_ State, e Event) bool { _, is := e.(Failed); return is }

	t.Run("OpeningEnds at the deadline", func(t *testing.T) {
		opened := func(_, next State) bool { return !opening(next) }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, opening, failed, opened)).To(gomega.BeEmpty())
	})
	t.Run("FinalizingEnds when the back end answers", func(t *testing.T) {
		done := func(_ State, e Event) bool { _, is := e.(Done); return is }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, finalizing, done, answered)).To(gomega.BeEmpty())
	})
	t.Run("FinalizingEnds when the back end breaks again and again", func(t *testing.T) {
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, finalizing, failed, answered)).To(gomega.BeEmpty())
	})
	t.Run("FinalizingEnds when the back end refuses again and again", func(t *testing.T) {
		refused := func(_ State, e Event) bool { _, is := e.(Refuse); return is }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, finalizing, refused, answered)).To(gomega.BeEmpty())
	})
}
