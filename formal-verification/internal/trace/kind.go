package trace

// The machines by their names: how the checker of traces decodes, steps and watches a machine of any type.

import (
	"fmt"
	"reflect"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// step is one line of a log with its values.
type step struct {
	from, event, to machine.Named
	effects         []machine.Named
	action, why     string
}

// kind is one machine, without its types: how to decode, step and watch it.
type kind struct {
	first                   machine.Named
	states, events, effects map[string]reflect.Type
	next                    func(from, event machine.Named) step
	watch                   func(seen any, s step) (after any, broken string)
	fresh                   any    // what the monitor has seen at first
	spec                    string // whose steps it has, if it has another name than the machine
	keeps                   keeping
}

// keeping says what the log has of a machine that belongs to no session.
type keeping uint8

const (
	ofSession keeping = iota // it belongs to a session
	ofOwner                  // one server has all of its steps
	ofStore                  // any server may take its next step, because its state is in the store
	ofKey                    // as ofStore, but its name says nothing in the log of another store, and it begins anew when it has expired
)

// of returns a kind. values is the function Values of the machine's package.
func of[S, E, F coordtest.Value, G any](
	table machine.Table[S, E, F], monitor machine.Monitor[S, E, F, G], first S, values func() ([]S, []E, []F),
) kind {
	var none G
	states, events, effects := values()
	return kind{
		first: first, states: types(states), events: types(events), effects: types(effects), fresh: none,
		next: func(from, event machine.Named) step {
			to, effects, row := table.Next(from.(S), event.(E))
			out := step{from: from, event: event, to: to, effects: named(effects), why: "no row"}
			if row >= 0 {
				out.action, out.why = table[row].Action, table[row].Why
			}
			return out
		},
		watch: func(seen any, s step) (any, string) {
			edge := machine.Edge[S, E, F]{From: s.from.(S), Event: s.event.(E), To: s.to.(S)}
			for _, f := range s.effects {
				edge.Effects = append(edge.Effects, f.(F))
			}
			return monitor.Watch(seen.(G), edge)
		},
	}
}

func named[F machine.Named](effects []F) []machine.Named {
	var out []machine.Named
	for _, f := range effects {
		out = append(out, f)
	}
	return out
}

func types[V machine.Named](values []V) map[string]reflect.Type {
	out := make(map[string]reflect.Type, len(values))
	for _, v := range values {
		out[v.Name()] = reflect.TypeOf(v)
	}
	return out
}

// same returns how two steps differ, or "".
func (s step) same(as step) string {
	switch {
	case s.action != as.action || s.why != as.why:
		return fmt.Sprintf("%q, not %q", as.action+as.why, s.action+s.why)
	case s.to != as.to:
		return "it goes to " + coordtest.Text(as.to) + ", not to " + coordtest.Text(s.to)
	case texts(s.effects) != texts(as.effects):
		return "its effects are" + texts(as.effects) + ", not" + texts(s.effects)
	}
	return ""
}

func texts(effects []machine.Named) string {
	if len(effects) == 0 {
		return " none"
	}
	out := ""
	for i, f := range effects {
		if i > 0 {
			out += ";"
		}
		out += " " + coordtest.Text(f)
	}
	return out
}
