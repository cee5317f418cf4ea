package conn

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

const newestGen = 2 // largest generation of a grace timer in the explored domain

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:   Table,
	First:   Connecting{},
	States:  []State{Connecting{}, Live{}, Interrupted{}, Closing{}, Closed{}},
	Events:  []Event{Opened{}, SetVAD{}, Lost{}, Restored{}, GraceExpired{}, Close{}, ChildrenDone{}},
	Monitor: Monitor,
	May:     may,
	Limits:  "two losses, two reasons",
}

func may(_ State, g Seen) []Event {
	out := []Event{
		Opened{true},
		Opened{false},
		SetVAD{true},
		SetVAD{false},
		Restored{},
		ChildrenDone{},
		Close{ByClient},
		Close{ServerStops},
		GraceExpired{0},
	}
	for gen := uint32(1); gen <= g.Newest; gen++ {
		out = append(out, GraceExpired{gen})
	}
	if g.Newest < newestGen || g.Grace != 0 {
		out = append(out, Lost{})
	}
	return out
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())

	t.Run("TeardownEnds", func(t *testing.T) {
		joined := func(_ State, e Event) bool { return e == ChildrenDone{} }
		closing := func(s State) bool { _, is := s.(Closing); return is }
		closed := func(_, next State) bool { return next == Closed{} }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, closing, joined, closed)).To(gomega.BeEmpty())
	})
	t.Run("InterruptionEnds", func(t *testing.T) {
		interrupted := func(s State) bool { _, is := s.(Interrupted); return is }
		restored := func(_ State, e Event) bool { return e == Restored{} }
		expired := func(_ State, e Event) bool { _, is := e.(GraceExpired); return is }
		live := func(_, next State) bool { _, is := next.(Live); return is }
		closing := func(_, next State) bool { _, is := next.(Closing); return is }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, interrupted, restored, live)).To(gomega.BeEmpty())
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, interrupted, expired, closing)).To(gomega.BeEmpty())
	})
}
