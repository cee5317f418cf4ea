package generation

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:   Table,
	First:   Announced{},
	States:  []State{Announced{}, Waiting{}, Running{}, Refused{}, Reported{}, Draining{}, Ended{}},
	Events:  []Event{Ask{}, Begin{}, Refuse{}, Cancel{}, BodyOver{}, Terminal{}},
	Monitor: Monitor,
	May: func(State, Seen) []Event {
		return []Event{Ask{}, Begin{}, Refuse{}, Cancel{}, BodyOver{}, Terminal{}}
	},
	Limits: "none",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "begins after its end", From: "Draining", Event: "Begin",
		Change: func(_, _ State, _ []Effect) (State, []Effect) { return Running{}, []Effect{Run{}} },
	}, {
		Name: "ends before its body", From: "Running", Event: "Terminal", Action: "End",
		Change: func(_, _ State, f []Effect) (State, []Effect) { return Ended{}, f },
	}, {
		Name: "reports a refused body twice", From: "Refused", Event: "Cancel",
		Change: func(_, next State, _ []Effect) (State, []Effect) { return next, []Effect{ReportRefused{}} },
	}},
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Run("GenerationEnds", func(t *testing.T) {
		asked := func(s State) bool {
			switch s.(type) {
			case Running, Refused, Reported, Draining:
				return true
			case Announced, Waiting, Ended:
			}
			return false
		}
		answered := func(s State, e Event) bool {
			switch s.(type) {
			case Running, Refused, Draining:
				return e == BodyOver{}
			case Reported:
				return e == Terminal{}
			case Announced, Waiting, Ended:
			}
			return false
		}
		ended := func(_, next State) bool { return next == Ended{} }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, asked, answered, ended)).To(gomega.BeEmpty())
	})
}
