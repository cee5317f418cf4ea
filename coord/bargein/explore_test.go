package bargein

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

const (
	newestResponse  = 2 // largest response of the explored domain
	newestCandidate = 2 // largest candidate
)

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:  Table,
	First:  Silent{},
	States: []State{Silent{}, Playing{}, Ducked{}, Silenced{}, Restored{}, Unanswered{}, Closed{}},
	Events: []Event{
		Began{}, Ended{}, Onset{}, Sustained{}, VoiceEnded{}, Acked{}, Passed{}, Rejected{}, Confirmed{}, Expired{}, Close{},
	},
	Monitor: Monitor,
	May:     may,
	Limits:  "responses 1 and 2, candidates 1 and 2, a position for each",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "a second onset forgets where the client first ducked", From: "Unanswered", Event: "Onset", Action: "DuckAgain",
		Change: func(_, next State, f []Effect) (State, []Effect) {
			d := next.(Ducked)
			d.Full = f[1].(SendCandidate).At
			return d, f
		},
	}},
}

// may offers fresh candidates, what any candidate or response may be told at any time, and
// those that are over or unknown.
func may(_ State, g Seen) []Event {
	out := []Event{Close{}}
	if fresh := g.Newest + 1; fresh <= newestCandidate {
		out = append(out, Onset{fresh, Position(100 * fresh)})
	}
	for r := machine.Response(1); r <= newestResponse; r++ {
		out = append(out, Began{r}, Ended{r}, Confirmed{r, Position(1000 * r)})
	}
	for c := ID(1); c <= newestCandidate; c++ {
		out = append(out, Sustained{c}, VoiceEnded{c}, Acked{c, Position(100*c + 50)}, Passed{c}, Rejected{c}, Expired{c})
	}
	return out
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	ducked := func(s State) bool { return s.Name() == "Ducked" || s.Name() == "Silenced" }
	restored := func(_, next State) bool { return !ducked(next) }

	t.Run("NeverStuckDucked: the deadline alone restores", func(t *testing.T) {
		deadline := func(_ State, e Event) bool { _, is := e.(Expired); return is }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, ducked, deadline, restored)).To(gomega.BeEmpty())
	})
	t.Run("the server's silence alone restores", func(t *testing.T) {
		silence := func(_ State, e Event) bool { _, is := e.(Passed); return is }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, ducked, silence, restored)).To(gomega.BeEmpty())
	})
	t.Run("PendingEnds by verdict or deadline", func(t *testing.T) {
		pending := func(s State) bool { return Pending(s) != 0 }
		decided := func(_, next State) bool { return !pending(next) }
		for _, name := range []string{"Rejected", "Confirmed", "Expired"} {
			verdict := func(_ State, e Event) bool { return e.Name() == name }
			gomega.NewWithT(t).Expect(coordtest.Leads(graph, pending, verdict, decided)).To(gomega.BeEmpty(), name)
		}
	})
}
