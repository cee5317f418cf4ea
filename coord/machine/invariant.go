package machine

// Invariants, and the monitor that checks them after every step of a machine.

// Invariant is one thing that must hold after every step. G is what a monitor
// has seen: counts that a proof needs and that are no part of the state.
// The explore tests, the fuzz targets, the simulator and a running server that
// is asked to check itself evaluate the same list.
type Invariant[S, E Named, F, G any] struct {
	Name  string // as in the formal spec
	Holds func(before, after G, step Edge[S, E, F]) bool
}

// Monitor is how a machine is watched: what is seen at first, how a step changes
// it, and what must then hold.
type Monitor[S, E Named, F, G any] struct {
	See        func(G, Edge[S, E, F]) G
	Invariants []Invariant[S, E, F, G]
}

// Watch returns what is seen after step, and the name of the first invariant
// that does not hold, or "".
func (m Monitor[S, E, F, G]) Watch(before G, step Edge[S, E, F]) (G, string) {
	after := m.See(before, step)
	for _, inv := range m.Invariants {
		if !inv.Holds(before, after, step) {
			return after, inv.Name
		}
	}
	return after, ""
}

// Each says whether holds is true of every effect of a step, given what was seen
// right before that effect. g is what was seen once the step's event is counted,
// see is how an effect changes it.
func Each[F, G any](g G, effects []F, see func(G, F) G, holds func(G, F) bool) bool {
	for _, f := range effects {
		if !holds(g, f) {
			return false
		}
		g = see(g, f)
	}
	return true
}
