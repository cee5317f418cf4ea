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

// memory is what a monitor remembers of earlier steps.
type memory[S, E Named, F, G any] interface {
	// Event returns what the monitor remembers after the event of step, before the effects.
	Event(step Edge[S, E, F]) G
	// Effect returns what the monitor remembers after f, one of the effects of step.
	Effect(step Edge[S, E, F], f F) G
}

// See returns what a monitor remembers after step, if it remembered g before.
func See[S, E Named, F any, G memory[S, E, F, G]](g G, step Edge[S, E, F]) G {
	g = g.Event(step)
	for _, f := range step.Effects {
		g = g.Effect(step, f)
	}
	return g
}

// Every reports whether holds is true for every effect of step that is a T. holds gets what the monitor remembers right before the effect.
// before is what it remembered before the step.
func Every[T any, S, E Named, F any, G memory[S, E, F, G]](before G, step Edge[S, E, F], holds func(G, T) bool) bool {
	g := before.Event(step)
	for _, f := range step.Effects {
		if t, is := any(f).(T); is && !holds(g, t) {
			return false
		}
		g = g.Effect(step, f)
	}
	return true
}

// Once reports whether step has one effect T if it is wanted, and none if it is not.
func Once[T any, S, E Named, F any](step Edge[S, E, F], wanted bool) bool {
	n := 0
	for _, f := range step.Effects {
		if _, is := any(f).(T); is {
			n++
		}
	}
	return n == 0 && !wanted || n == 1 && wanted
}
