package conform

// The types that an adapter fills in: System for any code, Machine for one table; and the figures of a comparison.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// Labelled is an event of the code with the label of the spec's edges that mean the same, for example `BodyEnded id=2
// status="Failed"`. A bool may be written on=true or on=True.
type Labelled[E any] struct {
	Label string
	Event E
}

// Figures says how much was compared: pairs of a node of the spec and a state of the code, steps that both take, and events that both ignore.
type Figures struct {
	States, Edges, Refused int
}

// NoRow is the reason that Step returns if the code has no row for an event. This is always a difference.
const NoRow = "no row"

// Start is a first state of the code, with its domain (see System).
type Start[S any, D comparable] struct {
	State  S
	Domain D
}

// System is code that is compared with a spec: one table, or several tables that work together. S is its state. D is the domain:
// what the adapter remembers in order to bound the events, for example the newest id.
type System[S comparable, E any, F machine.Named, D comparable] struct {
	Spec   string // "session" is compared with specs/session.fizz
	Starts []Start[S, D]
	// Step applies one event, with everything that follows from it. If the event is ignored, why is the reason, and nothing
	// changes. Otherwise why is "".
	Step func(S, E) (next S, effects []F, why string)
	// Events returns all events that may come in this state, also late, stale and unknown ones. Their labels are unique.
	Events func(S, D) []Labelled[E]
	// EventsAt is in place of Events where the events depend on the node of the spec and on the edges that leave it.
	EventsAt func(S, D, spot) []Labelled[E]
	// Grow returns the domain after an event that was not ignored. Nil: it stays the same.
	Grow func(D, E) D
	// Vars returns the values of the spec's variables in this state, in JSON, except those of fx, bad and the ghosts.
	Vars func(S, D) map[string]string
	// Hidden: the state of the code has more than the variables of the spec. An event without a step in the spec may then change
	// the rest of the state, but no variable, and without effects. The comparison goes on from the new state and the same node.
	Hidden bool
	// Ghosts are the variables that only the spec has, for its assertions. A variable that is neither compared nor a ghost is a difference.
	Ghosts []string
	// WithoutEffects: the spec has no fx. What the effects do is in its other variables.
	WithoutEffects bool
}

// spot is a node of a spec with the edges that leave it.
type spot struct {
	graph.Node
	node int
	out  []graph.Edge
}

// Machine is the adapter of one table.
type Machine[S, E, F coordtest.Value, D comparable] struct {
	Spec   string // "response" is compared with specs/response.fizz
	Table  machine.Table[S, E, F]
	First  S
	Domain D
	Events func(S, D) []Labelled[E] // as in System
	// EventsAt is in place of Events where the events depend on the node of the spec.
	EventsAt func(S, graph.Node) []Labelled[E]
	Grow     func(D, E) D                 // as in System
	Vars     func(S, D) map[string]string // as in System
	Ghosts   []string                     // as in System
	// Invariants are the names of the invariants of the monitor of the code.
	Invariants []string

	offers *Offers // records the events that the adapter sends, or nil
}

func (s System[S, E, F, D]) Name() string { return s.Spec }

func (m Machine[S, E, F, D]) Name() string { return m.Spec }

func (m Machine[S, E, F, D]) invariants() []string { return m.Invariants }

// Compare compares the spec's graph with the code. A difference is a *Difference.
func (s System[S, E, F, D]) Compare(g *graph.Graph) (Figures, error) {
	w := newWalk(s, g)
	err := w.run()
	return w.figures, err
}

// Compare is like System.Compare. It also requires that every row of the table was visited.
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

// Steps compares as Compare does. It also calls yield for every step that both take, and for every event that both ignore. A
// difference is a *Difference.
func (m Machine[S, E, F, D]) Steps(g *graph.Graph, yield func(from, event, to machine.Named, effects []machine.Named)) error {
	s := m.system(make([]bool, len(m.Table)))
	step := s.Step
	s.Step = func(from S, e E) (S, []F, string) {
		to, effects, why := step(from, e)
		named := make([]machine.Named, len(effects))
		for i, f := range effects {
			named[i] = f
		}
		yield(from, e, to, named)
		return to, effects, why
	}
	_, err := s.Compare(g)
	return err
}

// system returns the table as a System. met records which rows were visited.
func (m Machine[S, E, F, D]) system(met []bool) System[S, E, F, D] {
	var eventsAt func(S, D, spot) []Labelled[E]
	if m.EventsAt != nil {
		eventsAt = func(s S, _ D, at spot) []Labelled[E] { return m.EventsAt(s, at.Node) }
	}
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
		Events: m.Events, EventsAt: eventsAt, Grow: m.Grow, Vars: m.Vars, Ghosts: m.Ghosts,
	}
}
