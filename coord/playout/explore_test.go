package playout

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/coordtest"
	"github.com/antiphon-rt/antiphon/coord/id"
)

const (
	newest    = 2 // largest reply of the explored domain
	newestGen = 3 // largest segment
)

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:   Table,
	First:   Silent{},
	States:  []State{Silent{}, Playing{}, Held{}, Terminated{}},
	Events:  []Event{Begin{}, Drained{}, Candidate{}, Confirm{}, Reject{}, Clear{}, Shutdown{}},
	Monitor: Monitor,
	May:     may,
	Limits:  "replies 1 and 2, candidates 1 and 2, segments to 3, two marks",
	Tampers: []coordtest.Tamper[State, Event, Effect]{{
		Name: "cut at the beginning", From: "Held", Event: "Confirm", Action: "Confirm",
		Change: func(_, next State, f []Effect) (State, []Effect) {
			last := f[len(f)-1].(Truncate)
			f[len(f)-1] = Truncate{Resp: last.Resp}
			return next, f
		},
	}, {
		Name: "resumed from the beginning", From: "Held", Event: "Reject", Action: "Reject",
		Change: func(_, next State, f []Effect) (State, []Effect) {
			r := f[0].(RewindAndResume)
			return next, []Effect{RewindAndResume{Resp: r.Resp, Gen: r.Gen}}
		},
	}, {
		Name: "the segment keeps its generation", From: "Held", Event: "Reject", Action: "Reject",
		Change: func(from, _ State, f []Effect) (State, []Effect) {
			h, r := from.(Held), f[0].(RewindAndResume)
			return Playing{h.Resp, h.Gen}, []Effect{RewindAndResume{r.Resp, r.From, h.Gen}}
		},
	}, {
		Name: "played instead of held", From: "Silent", Event: "Begin", Action: "BeginHeld",
		Change: func(_, next State, _ []Effect) (State, []Effect) {
			h := next.(Held)
			return Playing{h.Resp, h.Gen + 1}, []Effect{Play{h.Resp, h.Gen + 1}, EmitStarted{h.Resp}}
		},
	}},
}

// may offers the next reply, reports of every segment of every reply, verdicts on
// both candidates at any time, and clears.
func may(s State, g Seen) []Event {
	early, late := Mark{Item: 1, MS: 500}, Mark{Item: 2, MS: 40}
	out := []Event{Confirm{1}, Confirm{2}, Clear{ByClient, early}, Clear{ByTurn, late}, Shutdown{}}
	gen := g.Gen
	if gen < newestGen {
		out = append(out, Reject{1}, Reject{2})
	}
	if fresh := max(g.Ended, g.Resp) + 1; fresh <= newest && gen < newestGen {
		out = append(out, Begin{fresh, 0}, Begin{fresh, 1}, Begin{fresh, 2})
	}
	if _, held := s.(Held); !held || gen < newestGen {
		out = append(out, Candidate{1, early}, Candidate{2, late})
	}
	for r := id.Response(1); r <= newest; r++ {
		for old := range gen + 1 {
			out = append(out, Drained{r, old})
		}
	}
	return out
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	held := func(s State) bool { h, is := s.(Held); return is && h.Gen < newestGen }
	notHeld := func(_, next State) bool { _, is := next.(Held); return !is }

	t.Run("HoldEnds by its verdict", func(t *testing.T) {
		verdict := func(s State, e Event) bool {
			h, isHeld := s.(Held)
			return isHeld && e == Reject{h.Candidate}
		}
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, held, verdict, notHeld)).To(gomega.BeEmpty())
	})
	t.Run("PlayingEnds when the audio has gone out", func(t *testing.T) {
		playing := func(s State) bool { _, is := s.(Playing); return is }
		drained := func(_ State, e Event) bool { _, is := e.(Drained); return is }
		silent := func(_, next State) bool { _, is := next.(Silent); return is }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, playing, drained, silent)).To(gomega.BeEmpty())
	})
}
