package machine

// Invariants, and the monitor that checks them after every step of a machine.

// Invariant is a statement that must hold after every step. G is what a monitor remembers of earlier steps, in addition to the
// machine's state. The explorations, the fuzz tests, the simulation and a server that is configured to check itself all evaluate
// the same invariants.
type Invariant[S, E Named, F, G any] struct {
	Name  string // as in the formal spec
	Holds func(before, after G, step Edge[S, E, F]) bool
}

// Monitor watches a machine. See returns what the monitor remembers after a step. Each invariant must then hold.
type Monitor[S, E Named, F, G any] struct {
	See        func(G, Edge[S, E, F]) G
	Invariants []Invariant[S, E, F, G]
}

// Watch returns what the monitor remembers after step, and the name of the first invariant that does not hold, or "".
func (m Monitor[S, E, F, G]) Watch(before G, step Edge[S, E, F]) (G, string) {
	after := m.See(before, step)
	for _, inv := range m.Invariants {
		if !inv.Holds(before, after, step) {
			return after, inv.Name
		}
	}
	return after, ""
}

// Each reports whether holds is true for every effect of a step. holds gets what the monitor remembers right before the effect. g
// is what it remembers after the step's event and before the effects; see returns what it remembers after an effect.
func Each[F, G any](g G, effects []F, see func(G, F) G, holds func(G, F) bool) bool {
	for _, f := range effects {
		if !holds(g, f) {
			return false
		}
		g = see(g, f)
	}
	return true
}
