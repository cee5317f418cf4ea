package gate

// Fairness that no property needs. A specification must not promise more about the world than its properties use.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// property decides one liveness property on a graph: it reports whether every fair run has it.
type property func(*graph.Graph) bool

// needless returns each action that can promise less, with the least fairness of that one action with which all properties
// still hold. The nodes and edges of a graph do not depend on fairness, so the graph is not explored again.
func needless(g *graph.Graph, properties []property) map[string]graph.Fairness {
	out := map[string]graph.Fairness{}
	for action, promised := range promises(g) {
		for less := graph.Unfair; less < promised; less++ {
			with := promising(g, action, less)
			if !slices.ContainsFunc(properties, func(holds property) bool { return !holds(with) }) {
				out[action] = less
				break
			}
		}
	}
	return out
}

// promises returns the actions with fairness, and that fairness.
func promises(g *graph.Graph) map[string]graph.Fairness {
	out := map[string]graph.Fairness{}
	for _, e := range g.Edges {
		if e.Fair != graph.Unfair {
			out[e.Action] = max(out[e.Action], e.Fair)
		}
	}
	return out
}

// liveness returns the liveness properties of a specification: its assertions and its `# ask responds`.
func liveness(r check.Result, asks []Ask, constants string) []property {
	var out []property
	for _, a := range r.Assertions {
		if good := r.Good[a.Name]; good != nil {
			out = append(out, func(g *graph.Graph) bool { return a.Against(g, good) == nil })
		}
	}
	for _, a := range asks {
		if a.Kind == askResponds {
			out = append(out, func(g *graph.Graph) bool {
				against, err := a.decide(g, constants)
				return err == nil && against == ""
			})
		}
	}
	return out
}

// fairness blames each promise of fairness that is stronger than the properties of the specification need.
func (s *spec) fairness(r check.Result, asks []Ask) {
	if r.Graph == nil || r.Verdict != check.Passed {
		return
	}
	tooMuch := needless(r.Graph, liveness(r, asks, constants(s.file)))
	for _, action := range sorted(tooMuch) {
		enough := "`atomic action`"
		if tooMuch[action] == graph.Weak {
			enough = "`atomic fair action`"
		}
		s.blame("the action %s promises more fairness than any property needs: %s is enough", action, enough)
	}
}
