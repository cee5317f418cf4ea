package conform

// Adapters that also compare the monitor: what it remembers must equal the variables of the specification that are not in the code's state.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// world is a domain that consists of what the code's monitor remembers (Seen) in the state At. With it an adapter can compare the
// spec's ghosts with the monitor. So an assertion of the spec and the invariant with the same name mean the same.
type world[S, G comparable] struct {
	At   S
	Seen G
}

// monitored returns Grow for such a domain.
func monitored[S, E, F coordtest.Value, G comparable](
	table machine.Table[S, E, F], monitor machine.Monitor[S, E, F, G],
) func(world[S, G], E) world[S, G] {
	return func(w world[S, G], e E) world[S, G] {
		next, effects, row := table.Next(w.At, e)
		step := machine.Edge[S, E, F]{From: w.At, Event: e, To: next, Effects: effects, Row: row}
		return world[S, G]{next, monitor.See(w.Seen, step)}
	}
}

// ghosts returns the fields of a state together with the values of the spec's ghosts.
func ghosts(fields map[string]string, more map[string]any) map[string]string {
	for name, v := range more {
		fields[name] = JSON(v)
	}
	return fields
}

// ifSo returns v if so is true, and 0 otherwise.
func ifSo[N ~int | ~uint32 | ~uint64](so bool, v N) N {
	if so {
		return v
	}
	return 0
}
