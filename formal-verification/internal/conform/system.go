package conform

// The types that an adapter fills in: System for any code, Machine for one table; and the figures of a comparison.

import (
	"github.com/antiphon-rt/antiphon/coord/coordtest"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// Labelled is an event with the label of the spec's edges that are meant by it,
// such as `BodyEnded id=2 status="Failed"`. A flag may be written on=true or on=True.
type Labelled[E any] struct {
	Label string
	Event E
}

// Figures is how much was compared: pairs of a spec's node and a state of the code,
// the steps that both take, and the events that both refuse.
type Figures struct {
	States, Edges, Refused int
}

// NoRow is the reason that a Step gives where the code has nothing at all for an
// event: always a difference.
const NoRow = "no row"

// Start is where the code may begin.
type Start[S any, D comparable] struct {
	State  S
	Domain D
}

// System is code that a spec is compared with: one table, or several composed.
// S is its state, D what bounds the events that may come (the newest id, …).
type System[S comparable, E any, F machine.Named, D comparable] struct {
	Spec   string // "session" is compared with specs/session.fizz
	Starts []Start[S, D]
	// Step takes one event until nothing is left to do. why is "" for a step and
	// the reason where the event is ignored; an ignored one changes nothing.
	Step func(S, E) (next S, effects []F, why string)
	// Events are all that may come in this state, late, stale and unknown ones
	// included. Labels are unique among them.
	Events func(S, D) []Labelled[E]
	// Grow is the domain after an event that was taken. Nil: it stays.
	Grow func(D, E) D
	// Vars are the spec's variables in this state, as JSON texts, all but fx, bad and the ghosts.
	Vars func(S, D) map[string]string
	// Hidden: the state has more than the variables. A step that the spec does not take may change that, and that alone:
	// it changes no variable and has no effects, and the walk goes on from there beside the same node of the spec.
	Hidden bool
	// Tables tells which table takes an event, for CompareAndList. Nil: nothing is listed.
	Tables *tables[S, E]
	// Ghosts are variables that only the spec has: what its assertions remember. A variable
	// that is neither compared nor one of these is a difference.
	Ghosts []string
}

// Machine is how one table is compared with its spec.
type Machine[S, E, F coordtest.Value, D comparable] struct {
	Spec   string // "response" is compared with specs/response.fizz
	Table  machine.Table[S, E, F]
	First  S
	Domain D
	Events func(S, D) []Labelled[E]     // as in System
	Grow   func(D, E) D                 // as in System
	Vars   func(S, D) map[string]string // as in System
	Ghosts []string                     // as in System

	offers *Offers // notes what is offered, or nil
}

// tables are those of a System: every state with every event of its tables, and what one event of the System is to its table.
// event is nil where no table takes it.
type tables[S, E any] struct {
	pairs []pair
	of    func(S, E) (state, event machine.Named)
}

// Name is the spec's name.
func (s System[S, E, F, D]) Name() string { return s.Spec }

// Name is the spec's name.
func (m Machine[S, E, F, D]) Name() string { return m.Spec }

// Compare walks the spec's graph and the code together. What differs is a *Difference.
func (s System[S, E, F, D]) Compare(g *graph.Graph) (Figures, error) {
	w := newWalk(s, g)
	err := w.run()
	return w.figures, err
}

// Compare is System.Compare, and every row of the table must have been met.
func (m Machine[S, E, F, D]) Compare(g *graph.Graph) (Figures, error) {
	met := make([]bool, len(m.Table))
	figures, err := m.system(met).Compare(g)
	if err != nil {
		return figures, err
	}
	for i, row := range m.Table {
		if !met[i] {
			return figures, &Difference{What: "this row of the table was never met: " + row.From + " + " + row.Event + ", " + row.Action + row.Why}
		}
	}
	return figures, nil
}

// system is the table as a System that notes which rows are met.
func (m Machine[S, E, F, D]) system(met []bool) System[S, E, F, D] {
	return System[S, E, F, D]{
		Spec:   m.Spec,
		Starts: []Start[S, D]{{m.First, m.Domain}},
		Step: func(s S, e E) (S, []F, string) {
			if m.offers != nil {
				m.offers.note(m.Spec, s, e)
			}
			next, effects, row := m.Table.Next(s, e)
			if row < 0 {
				return s, nil, NoRow
			}
			met[row] = true
			return next, effects, m.Table[row].Why
		},
		Events: m.Events, Grow: m.Grow, Vars: m.Vars, Ghosts: m.Ghosts,
	}
}
