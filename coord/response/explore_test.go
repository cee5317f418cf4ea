package response

// The exploration of the machine: which events may come in each state, within which bounds, and the proof (coordtest.Prove) over all
// reachable states.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// newest is the largest identifier of the explored domain.
const newest = 4

var subject = coordtest.Subject[State, Event, Effect, Seen]{
	Table:   Table,
	First:   Idle{},
	States:  []State{Idle{}, Active{}, Draining{}, Replacing{}, Terminating{}, Terminated{}},
	Events:  []Event{Create{}, CreateByTurn{}, Cancel{}, BargeIn{}, BodyEnded{}, Shutdown{}},
	Monitor: Monitor,
	May:     may,
	Limits:  "responses 1 to 4",
	Faults: []coordtest.Fault[State, Event, Effect]{{
		Name: "ends another response", From: "Active", Event: "BodyEnded", Action: "Finish",
		Change: func(_, next State, f []Effect) (State, []Effect) {
			f[0] = EmitTerminal{f[0].(EmitTerminal).ID + 1, Completed}
			return next, f
		},
	}},
}

// may offers every fresh id, every known one as a target, and reports of bodies
// that run, ended long ago or never existed.
func may(_ State, g Seen) []Event {
	out := []Event{BargeIn{}, Shutdown{}, Cancel{}}
	if fresh := g.Newest + 1; fresh <= newest {
		out = append(out, Create{fresh, machine.Request{Client: uint64(fresh)}}, CreateByTurn{fresh, true, machine.Request{Turn: machine.Turn(fresh)}},
			CreateByTurn{fresh, false, machine.Request{Turn: machine.Turn(fresh)}})
	}
	for known := ID(1); known <= g.Newest; known++ {
		out = append(out, Cancel{known}, BodyEnded{known, Completed}, BodyEnded{known, Failed})
	}
	return out
}

func TestProve(t *testing.T) { coordtest.Prove(t, subject) }

func TestLiveness(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	returns := func(_ State, e Event) bool { _, ended := e.(BodyEnded); return ended }

	t.Run("EveryCreatedTerminates", func(t *testing.T) {
		live := func(s State) bool { return Live(s) != 0 }
		ended := func(s, next State) bool { return Live(next) != Live(s) }
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, live, returns, ended)).To(gomega.BeEmpty())
	})
	t.Run("DrainingEnds", func(t *testing.T) {
		draining := func(s State) bool {
			switch s.(type) {
			case Draining, Replacing, Terminating:
				return true
			case Idle, Active, Terminated:
			}
			return false
		}
		settled := func(_, next State) bool {
			switch next.(type) {
			case Idle, Active, Terminated:
				return true
			case Draining, Replacing, Terminating:
			}
			return false
		}
		gomega.NewWithT(t).Expect(coordtest.Leads(graph, draining, returns, settled)).To(gomega.BeEmpty())
	})
}
