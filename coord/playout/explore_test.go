package playout

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

const (
	newest    = 2 // largest response of the explored domain
	newestGen = 3 // largest segment
)

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:  Table,
	First:  Silent{},
	States: []State{Silent{}, Playing{}, Held{}, Cut{}, Terminated{}},
	Events: []Event{
		Begin{},
		Drained{},
		Candidate{},
		Ready{},
		ReadyExpired{},
		Confirm{},
		Reject{},
		Clear{},
		Heard{},
		HeardExpired{},
		Missed{},
		Shutdown{},
	},
	Monitor: Monitor,
	May:     may,
	Limits:  "replies 1 and 2, candidates 1 and 2, segments to 3, four marks",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "cut at the beginning", From: "Held", Event: "Confirm", Action: "Confirm",
		Change: func(_, next State, f []Effect) (State, []Effect) {
			last := f[len(f)-1].(Truncate)
			f[len(f)-1] = Truncate{Resp: last.Resp}
			return next, f
		},
	}, {
		Name: "resumed from the beginning", From: "Held", Event: "Reject", Action: "Reject",
		Change: func(_, next State, f []Effect) (State, []Effect) {
			if r, is := f[0].(RewindAndResume); is {
				f[0] = RewindAndResume{Resp: r.Resp, Gen: r.Gen}
			}
			return next, f
		},
	}, {
		Name: "the segment keeps its generation", From: "Held", Event: "Reject", Action: "Reject",
		Change: func(from, next State, f []Effect) (State, []Effect) {
			h := from.(Held)
			if r, is := f[0].(RewindAndResume); is {
				f[0] = RewindAndResume{r.Resp, r.From, h.Gen}
			}
			return Playing{h.Resp, h.Gen}, f
		},
	}, {
		Name: "the client is told, and the reply does not go on", From: "Held", Event: "Reject", Action: "RejectUnready",
		Change: func(_, next State, _ []Effect) (State, []Effect) {
			return next, []Effect{EmitRejected{next.(Held).Client}}
		},
	}, {
		Name: "the older one's ready will do", From: "Held", Event: "Candidate", Action: "HoldForNewer",
		Change: func(from, next State, f []Effect) (State, []Effect) {
			h := next.(Held)
			h.Awaits = from.(Held).Awaits
			return h, f
		},
	}, {
		Name: "played instead of held", From: "Silent", Event: "Begin", Action: "BeginHeld",
		Change: func(_, next State, _ []Effect) (State, []Effect) {
			h := next.(Held)
			return Playing{h.Resp, h.Gen + 1}, []Effect{Play{h.Resp, h.Gen + 1}, EmitStarted{h.Resp}}
		},
	}, {
		Name: "what was lost is not played again", From: "Playing", Event: "Missed", Action: "Miss",
		Change: func(from, _ State, _ []Effect) (State, []Effect) { return from, nil },
	}},
}

// may returns the next response, reports of every segment of every response, verdicts
// on both candidates at any time, what a client reports of each, and clears.
func may(s State, g Seen) []Event {
	early, late := Position{Item: 1, MS: 500}, Position{Item: 2, MS: 40}
	ready, heard := Position{Item: 1, MS: 300}, Position{Item: 1, MS: 400}
	out := []Event{
		Confirm{1, false},
		Confirm{2, true},
		Clear{ByClient, early, false},
		Clear{ByTurn, late, true},
		Heard{1, heard},
		Heard{2, heard},
		HeardExpired{1},
		HeardExpired{2},
		Shutdown{},
	}
	if g.Gen < newestGen {
		out = append(out, Reject{1}, Reject{2}, Ready{1, ready}, Ready{2, ready}, ReadyExpired{1}, ReadyExpired{2})
	}
	if fresh := max(g.Ended, g.Resp) + 1; fresh <= newest && g.Gen < newestGen {
		out = append(out, Begin{fresh, 0}, Begin{fresh, 1}, Begin{fresh, 2})
	}
	if _, held := s.(Held); !held || g.Gen < newestGen {
		out = append(out, Candidate{1, early, false}, Candidate{2, late, false}, Candidate{1, early, true}, Candidate{2, late, true})
	}
	for r := machine.Response(1); r <= newest; r++ {
		if g.Gen < newestGen {
			out = append(out, Missed{r, early, 0}, Missed{r, late, 1})
		}
		for old := range g.Gen + 1 {
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
			return isHeld && (e == Reject{h.Candidate} || e == ReadyExpired{h.Client})
		}
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, held, verdict, notHeld)).To(gomega.BeEmpty())
	})
	t.Run("CutEnds with the client's report or without", func(t *testing.T) {
		cut := func(s State) bool { _, is := s.(Cut); return is }
		expired := func(_ State, e Event) bool { _, is := e.(HeardExpired); return is }
		silent := func(_, next State) bool { _, is := next.(Silent); return is }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, cut, expired, silent)).To(gomega.BeEmpty())
	})
	t.Run("PlayingEnds when the audio has gone out", func(t *testing.T) {
		playing := func(s State) bool { _, is := s.(Playing); return is }
		drained := func(_ State, e Event) bool { _, is := e.(Drained); return is }
		silent := func(_, next State) bool { _, is := next.(Silent); return is }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, playing, drained, silent)).To(gomega.BeEmpty())
	})
}
