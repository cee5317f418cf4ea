package conform

// Adapters that also compare the monitor: what it remembers must equal the variables of the specification that are not in the code's state.

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// world is a domain that consists of what the code's monitor remembers (Seen) in the state At. With it an adapter can compare the
// spec's ghosts with the monitor. So an assertion of the spec and the invariant with the same name mean the same.
type world[S, G comparable] struct {
	At   S
	Seen G
}

// watched returns the adapter of a table with such a domain. values is the function Values of the table's package. remembered returns the
// variables of the spec that the monitor has.
func watched[S, E, F coordtest.Value, G comparable](
	spec string, table machine.Table[S, E, F], monitor machine.Monitor[S, E, F, G], first S, values func() ([]S, []E, []F),
	events func(S, G) []Labelled[E], remembered func(G) map[string]any,
) Machine[S, E, F, world[S, G]] {
	fields := FieldsOf(values)
	return Machine[S, E, F, world[S, G]]{
		Spec: spec, Table: table, First: first, Domain: world[S, G]{At: first}, Invariants: namesOf(monitor),
		Events: func(s S, w world[S, G]) []Labelled[E] { return events(s, w.Seen) },
		Grow: func(w world[S, G], e E) world[S, G] {
			next, effects, row := table.Next(w.At, e)
			step := machine.Edge[S, E, F]{From: w.At, Event: e, To: next, Effects: effects, Row: row}
			return world[S, G]{next, monitor.See(w.Seen, step)}
		},
		Vars: func(s S, w world[S, G]) map[string]string { return ghosts(fields(s), remembered(w.Seen)) },
	}
}

func namesOf[S, E machine.Named, F, G any](monitor machine.Monitor[S, E, F, G]) []string {
	var out []string
	for _, inv := range monitor.Invariants {
		out = append(out, inv.Name)
	}
	return out
}

// seen returns the function remembered for a spec with one variable for each field of what the monitor remembers. other has the names of the
// variables that are not their field's.
func seen[G any](other map[string]string) func(G) map[string]any {
	return func(g G) map[string]any {
		out := map[string]any{}
		eachField(g, func(name string, field reflect.Value) { out[cmp.Or(other[name], name)] = field.Interface() })
		return out
	}
}

// ghosts returns the fields of a state together with the values of the spec's ghosts.
func ghosts(fields map[string]string, more map[string]any) map[string]string {
	for name, v := range more {
		fields[name] = JSON(v)
	}
	return fields
}

// offer is a list of events with the labels of the spec's edges.
type offer[E any] []Labelled[E]

// add adds an event. label is a format for the values a.
func (o *offer[E]) add(e E, label string, a ...any) {
	*o = append(*o, Labelled[E]{fmt.Sprintf(label, a...), e})
}

func ifSo[N ~int | ~uint32 | ~uint64](so bool, v N) N {
	if so {
		return v
	}
	return 0
}
