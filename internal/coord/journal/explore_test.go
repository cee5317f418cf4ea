package journal

// The exploration of the machine: which events may come in each state, and the proof (coordtest.Prove) over all reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// records is how many records are made at most, as in the spec.
const records = 3

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:   Table,
	First:   Waiting{},
	States:  []State{Waiting{}, Resting{}, Writing{}, Doubtful{}, Broken{}, Mending{}, Off{}, Finishing{}, Ending{}, Fenced{}, Closed{}},
	Events:  []Event{Begin{}, Recorded{}, Stored{}, Conflict{}, Failed{}, Found{}, Taken{}, Gone{}, Late{}, Over{}, Stop{}},
	Monitor: Monitor,
	May:     may,
	Limits:  "3 records",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "goes on although another server owns the call", From: "Doubtful", Event: "Taken", Action: "Fence",
		Change: func(from, _ State, _ []Effect) (State, []Effect) {
			s := from.(Doubtful)
			return Writing(s), []Effect{Append{s.Recorded}}
		},
	}, {
		Name: "removes the log of another server", From: "Ending", Event: "Conflict", Action: "LeaveConflict",
		Change: func(State, State, []Effect) (State, []Effect) { return Closed{}, []Effect{Remove{}} },
	}, {
		Name: "is whole before it is", From: "Mending", Event: "Stored", Action: "MendAgain",
		Change: func(from, _ State, _ []Effect) (State, []Effect) {
			return Resting{from.(Mending).Recorded}, []Effect{Restore{}}
		},
	}, {
		Name: "appends in doubt", From: "Writing", Event: "Conflict", Action: "DoubtConflict",
		Change: func(from, _ State, _ []Effect) (State, []Effect) {
			return from, []Effect{Append{from.(Writing).Recorded}}
		},
	}},
}

// may offers every record, the next one, and one beyond it.
func may(_ State, g Seen) []Event {
	out := []Event{Begin{}, Conflict{}, Failed{}, Taken{}, Gone{}, Over{}, Stop{}}
	for r := range g.Recorded + 3 {
		out = append(out, Stored{r}, Found{r}, Late{r})
		if r <= records {
			out = append(out, Recorded{r})
		}
	}
	return out
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	leads := func(name string, from func(State) bool, by func(State, Event) bool) {
		t.Run(name, func(t *testing.T) {
			left := func(_, next State) bool { return !from(next) }
			gomega.NewWithT(t).Expect(coordtest.Leads(graph, from, by, left)).To(gomega.BeEmpty())
		})
	}
	leads("WithheldIsReleased", func(s State) bool { return withheld(s) != 0 },
		func(s State, e Event) bool { return withheld(s) != 0 && e == Late{withheld(s)} })
	leads("BrokenIsRestored", func(s State) bool { _, is := s.(Mending); return is },
		func(s State, e Event) bool { m, is := s.(Mending); return is && e == Stored{m.Recorded} })
}

// withheld returns the oldest record that is withheld in a state; 0 for none.
func withheld(s State) Record {
	switch s := s.(type) {
	case Writing:
		return s.Stored + 1
	case Doubtful:
		return s.Stored + 1
	case Finishing:
		return s.Stored + 1
	case Waiting, Resting, Broken, Mending, Off, Ending, Fenced, Closed:
	}
	return 0
}
