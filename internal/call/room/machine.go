package room

// A step of a machine that one room drives by itself.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
	coord "github.com/antiphon-rt/antiphon/coord/session"
)

// Machine is a machine that one room drives by itself. Package coord/session does not connect it with the others.
type Machine[S, E, F machine.Named, G any] struct {
	Name    string // in the log and in the trace
	Table   machine.Table[S, E, F]
	Monitor machine.Monitor[S, E, F, G]
}

// Step runs e through the machine. It replaces state, and returns the effects and a description of the step for the log and the trace.
// If broken is not nil, Step checks the invariants: seen is what the monitor remembers, and broken gets the invariant that does not hold.
func (m Machine[S, E, F, G]) Step(state *S, seen *G, e E, broken func(invariant, event string)) ([]F, coord.Step) {
	from := *state
	next, effects, row := m.Table.Next(from, e)
	*state = next
	if broken != nil {
		var invariant string
		edge := machine.Edge[S, E, F]{From: from, Event: e, To: next, Effects: effects}
		if *seen, invariant = m.Monitor.Watch(*seen, edge); invariant != "" {
			broken(invariant, e.Name())
		}
	}
	st := coord.Step{Machine: m.Name, From: from, Event: e, To: next, Action: m.Table[row].Action, Why: m.Table[row].Why}
	for _, f := range effects {
		st.Effects = append(st.Effects, f)
	}
	return effects, st
}
