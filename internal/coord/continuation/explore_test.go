package continuation

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

const newest = 3 // the largest answer of the explored domain

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:   Table,
	First:   Quiet{},
	States:  []State{Quiet{}, Answered{}, Due{}},
	Events:  []Event{Kept{}, Created{}, Called{}, Cancelled{}, Lost{}, TakenOver{}, Settled{}, Turn{}, Free{}},
	Monitor: Monitor,
	May:     may,
	Limits:  "answers to 3",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "completes what was cut off", From: "Quiet", Event: "Lost", Action: "End",
		Change: func(_, next State, f []Effect) (State, []Effect) { return next, []Effect{End{!f[0].(End).Completed}} },
	}, {
		Name: "goes on with a call", From: "Answered", Event: "Called", Action: "Call",
		Change: func(from, _ State, _ []Effect) (State, []Effect) { return from, nil },
	}, {
		Name: "goes on with another answer", From: "Due", Event: "Free", Action: "Continue",
		Change: func(from, next State, _ []Effect) (State, []Effect) {
			return next, []Effect{Continue{from.(Due).Of + 1, from.(Due).Heard}}
		},
	}},
}

// may offers every event. The journal has an answer only at the beginning.
func may(_ State, g Seen) []Event {
	out := []Event{Called{}, Cancelled{}, Lost{}, Lost{Called: true}, Settled{}, Turn{}, Free{}}
	for n := range 64 {
		e := TakenOver{n&1 != 0, n&2 != 0, n&4 != 0, n&8 != 0, n&16 != 0, n&32 != 0}
		if e.Words || !e.Newest {
			out = append(out, e)
		}
	}
	for n := range 4 {
		a, b := n&1 != 0, n&2 != 0
		if g.Newest < newest {
			out = append(out, Created{g.Newest + 1, a, b})
		}
		if g.Newest == 0 || g.Goes {
			out = append(out, Kept{a, b})
		}
	}
	return out
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Run("DueIsSaid", func(t *testing.T) {
		isDue := func(s State) bool { _, is := s.(Due); return is }
		back := func(_ State, e Event) bool { return e == Settled{} || e == Free{} }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, isDue, back, func(_, next State) bool { return !isDue(next) })).To(gomega.BeEmpty())
	})
}
