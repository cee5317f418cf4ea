package conform

// Lists all steps of a machine that its specification has, for the check of traces.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

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
