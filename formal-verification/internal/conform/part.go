package conform

// The comparison of code that is a part of what a specification describes. The rest, for example a driver, a store or a network, is in the specification alone.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// move is a step of a specification, with the variables before and after it. Of an action without a step, To is -1 and is is nil.
type move struct {
	graph.Edge
	was, is map[string]string
}

// choice returns what the step has chosen for a variable, as the label writes it, or "".
func (m move) choice(name string) string {
	at := slices.IndexFunc(m.Choices, func(c graph.Choice) bool { return c.Var == name })
	if at < 0 {
		return ""
	}
	return m.Choices[at].Value
}

// number returns what the step has chosen for a variable that is a number, or 0.
func (m move) number(name string) int {
	n, err := strconv.Atoi(m.choice(name))
	if err != nil {
		return 0 // it chooses no such number
	}
	return n
}

// decoded returns variables of a spec as the fields with their names.
func decoded[V any](vars map[string]string) V {
	var v V
	if err := json.Unmarshal([]byte(record(vars)), &v); err != nil {
		panic(fmt.Sprintf("conform: the variables %s are not those of the adapter: %v", record(vars), err))
	}
	return v
}

// elsewhere is the reason of a Step that does not concern the code. Its variables must stay the same, and the step is not counted.
const elsewhere = "it is not the code's"

// Part is the adapter of such code. The comparison takes each step of the spec, and Step says what it is for the code: for example,
// a message that arrives is an event. C is the state of the code.
type Part[C comparable, F machine.Named] struct {
	Spec   string
	Starts []C
	// Step returns the next state of the code, its effects, and why it ignores the step, or "".
	Step func(C, move) (next C, effects []F, why string)
	// May returns the actions that may come at a node. Where one has no step in the spec, the code must ignore it. Nil: there are none.
	May    func(c C, node int) []string
	Vars   func(C) map[string]string // as in System
	Ghosts []string                  // as in System
	// WithoutEffects is as in System.
	WithoutEffects bool
}

func (p Part[C, F]) Name() string { return p.Spec }

func (p Part[C, F]) Compare(g *graph.Graph) (Figures, error) {
	type none struct{}
	s := System[C, move, F, none]{
		Spec: p.Spec, Step: p.Step, Ghosts: p.Ghosts, WithoutEffects: p.WithoutEffects,
		EventsAt: func(c C, _ none, at spot) []Labelled[move] { return p.moves(g, c, at) },
		Vars:     func(c C, _ none) map[string]string { return p.Vars(c) },
	}
	for _, c := range p.Starts {
		s.Starts = append(s.Starts, Start[C, none]{State: c})
	}
	return s.Compare(g)
}

// moves returns the steps of the spec at a node, and the actions that may come there without a step.
func (p Part[C, F]) moves(g *graph.Graph, c C, at spot) []Labelled[move] {
	var all []Labelled[move]
	taken := map[string]bool{}
	for _, e := range at.out {
		taken[e.Action] = true
		all = append(all, Labelled[move]{e.Label(), move{e, at.Vars, g.Nodes[e.To].Vars}})
	}
	if p.May == nil {
		return all
	}
	for _, action := range p.May(c, at.node) {
		if !taken[action] {
			all = append(all, Labelled[move]{action, move{Edge: graph.Edge{From: at.node, To: -1, Action: action}, was: at.Vars}})
		}
	}
	return all
}
