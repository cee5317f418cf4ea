package voicegate

// The exploration of the machine: which events may come in each state, and the proof (coordtest.Prove) over all reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:   Table,
	First:   Waiting{},
	States:  []State{Waiting{}, Resolving{}, Admitted{}, Refused{}},
	Events:  []Event{Ask{}, Matched{}, Mismatched{}, Failed{}, Expired{}, Shutdown{}},
	Monitor: Monitor,
	May: func(State, Seen) []Event {
		return []Event{
			Ask{}, Ask{First: true}, Ask{Trusted: true}, Ask{First: true, Trusted: true}, Matched{}, Mismatched{}, Failed{}, Expired{}, Shutdown{},
		}
	},
	Limits: "one turn",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "opens when the back end hangs", From: "Resolving", Event: "Expired", Action: "RefuseLate",
		Change: func(State, State, []Effect) (State, []Effect) { return Admitted{}, []Effect{Admit{}} },
	}, {
		Name: "trusts every turn", From: "Resolving", Event: "Matched", Action: "Admit",
		Change: func(_, next State, _ []Effect) (State, []Effect) { return next, []Effect{Trust{}, Admit{}} },
	}, {
		Name: "admits after a refusal", From: "Refused", Event: "Matched",
		Change: func(State, State, []Effect) (State, []Effect) { return Admitted{}, []Effect{Admit{}} },
	}, {
		Name: "admits without a question", From: "Waiting", Event: "Matched",
		Change: func(State, State, []Effect) (State, []Effect) { return Admitted{}, []Effect{Admit{}} },
	}},
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Run("VerdictComes", func(t *testing.T) {
		waits := func(s State) bool { _, is := s.(Resolving); return is }
		expires := func(s State, e Event) bool { return waits(s) && e == Expired{} }
		gone := func(_, next State) bool { return !waits(next) }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, waits, expires, gone)).To(gomega.BeEmpty())
	})
}
