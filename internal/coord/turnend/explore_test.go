package turnend

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

const newest = machine.Turn(4) // the largest turn of the explored domain

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:   Table,
	First:   Final{},
	States:  []State{Final{}, Tentative{}, Continued{}},
	Events:  []Event{Ended{}, Opened{}, Dropped{}, Worded{}, Expired{}, Fixed{}},
	Monitor: Monitor,
	May:     may,
	Limits:  "turns to 4",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "joins what must stay apart", From: "Continued", Event: "Worded", Action: "StayApart",
		Change: func(from, next State, f []Effect) (State, []Effect) {
			s := from.(Continued)
			return next, []Effect{Join{s.Turn, s.Next}, f[1]}
		},
	}, {
		Name: "keeps an end tentative", From: "Tentative", Event: "Expired", Action: "Expire",
		Change: func(from, _ State, _ []Effect) (State, []Effect) { return from, nil },
	}, {
		Name: "forgets the first end", From: "Continued", Event: "Dropped", Action: "FallSilent",
		Change: func(State, State, []Effect) (State, []Effect) { return Final{}, nil },
	}},
}

// may offers each event about each turn up to the newest one, and about one more.
func may(_ State, g Seen) []Event {
	out := []Event{Fixed{}}
	for t := machine.Turn(1); t <= min(g.Last+1, newest); t++ {
		out = append(out, Dropped{t}, Worded{t, false}, Worded{t, true}, Expired{t})
		if t > g.Last || t == g.Next {
			out = append(out, Opened{t}, Ended{t})
		}
	}
	return out
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Run("EndIsFinalAtLast", func(t *testing.T) {
		waits := func(s State) bool { _, is := s.(Tentative); return is }
		expires := func(s State, e Event) bool { return waits(s) && e == Expired{s.(Tentative).Turn} }
		gone := func(_, next State) bool { return !waits(next) }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, waits, expires, gone)).To(gomega.BeEmpty())
	})
}
