package run

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// The explored domain, the same as the spec's.
const (
	interactions = 2 // asked at most
	resumes      = 2 // up to this attempt a running turn may be taken over
	now          = Millis(7)
	result       = Result(1)
)

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:  Table,
	First:  Queued{},
	States: []State{Queued{}, Running{}, WaitingUser{}, Succeeded{}, Failed{}, Canceled{}},
	Events: []Event{
		TurnStarted{},
		TurnNeedsInput{},
		TurnSucceeded{},
		TurnFailed{},
		Reply{},
		Timeout{},
		Cancel{},
		Preserve{},
		Reconcile{},
		Resume{},
	},
	Monitor: Monitor,
	May:     may,
	Limits:  "interactions 1 and 2, attempts up to 2 by Resume and up to 4 by TurnStarted, sessions 0 to 2",
	Faults:  faults,
}

// may offers attempts that are old, current, next and beyond; interactions that are
// known and one that is not; sessions that are valid, missing and another's.
func may(_ State, g Seen) []Event {
	out := []Event{Cancel{result, now}, Reconcile{result, now}}
	for a := g.Attempt - min(g.Attempt, 1); a <= g.Attempt+2; a++ {
		out = append(out, TurnStarted{a, now}, TurnSucceeded{a, result, now}, TurnFailed{a, result, now})
		if a <= resumes {
			out = append(out, Resume{a})
		}
		switch fresh := g.Asked + 1; {
		case fresh > interactions:
		case a != g.Attempt:
			out = append(out, TurnNeedsInput{a, fresh, 1, RequireReply, now})
		default:
			for _, p := range []Policy{RequireReply, AutoDecide, Auto} {
				out = append(out, TurnNeedsInput{a, fresh, 0, p, now}, TurnNeedsInput{a, fresh, 1, p, now})
			}
		}
	}
	for i := Interaction(1); i <= g.Asked+1; i++ {
		out = append(out, Reply{i, now}, Timeout{i, now}, Preserve{i, 0}, Preserve{i, 1}, Preserve{i, 2})
	}
	return out
}

// faults are the faults that no single change of a row makes.
var faults = []coordtest.Fault[State, Event, Effect]{{
	Name: "waits for an older question", From: "running", Event: "turn.needs_input", Action: "Ask",
	Change: func(_, next State, f []Effect) (State, []Effect) {
		w := next.(WaitingUser)
		w.Pending--
		return w, f
	},
}, {
	Name: "applies a duplicate reply", From: "queued", Event: "interaction.reply.accepted", Action: "AnswerReply",
	Change: func(_, next State, f []Effect) (State, []Effect) {
		return next, []Effect{ReplyAccepted{InteractionID: f[0].(AnswerReply).Interaction}}
	},
}, {
	Name: "waits although it is auto", From: "running", Event: "turn.needs_input", Action: "DecideAlone",
	Change: func(from, _ State, _ []Effect) (State, []Effect) {
		s := from.(Running)
		next := WaitingUser{s.Attempt, s.Last + 1, 1, Auto, s.Seq + 1}
		return next, []Effect{StateChanged{next.Seq, s.Name(), next.Name(), TurnNeedsInput{}.Name(), now}}
	},
}, {
	Name: "keeps the attempt", From: "running", Event: "restart.resumed", Action: "Resume",
	Change: func(from, _ State, f []Effect) (State, []Effect) { return from, f },
}, {
	Name: "changes its result", From: "succeeded", Event: "interaction.reply.accepted", Action: "AnswerReply",
	Change: func(_, next State, f []Effect) (State, []Effect) {
		s := next.(Succeeded)
		s.Result = 2
		return s, f
	},
}}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	leads := func(name string, from func(State) bool, by func(State, Event) bool) {
		t.Run(name, func(t *testing.T) {
			moved := func(s, next State) bool { return s.Name() != next.Name() }
			gomega.NewWithT(t).Expect(coordtest.Leads(graph, from, by, moved)).To(gomega.BeEmpty())
		})
	}
	leads("QueuedIsClaimed", func(s State) bool { _, is := s.(Queued); return is },
		func(_ State, e Event) bool { _, is := e.(TurnStarted); return is })
	leads("RunningReports", func(s State) bool { _, is := s.(Running); return is },
		func(_ State, e Event) bool { _, is := e.(TurnSucceeded); return is })
	leads("AutoDecideEndsTheWait", func(s State) bool { w, is := s.(WaitingUser); return is && w.Policy == AutoDecide },
		func(_ State, e Event) bool { _, is := e.(Timeout); return is })
}
