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

// move is a step of a specification, with the variables before and after it.
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

// Part is the adapter of such code. The comparison takes each step of the spec, and Step says what it is for the code: for example,
// a message that arrives is an event. C is the state of the code.
type Part[C comparable, F machine.Named] struct {
	Spec  string
	First C
	// Step returns the next state of the code, its effects, and why it ignores the step, or "".
	Step func(C, move) (next C, effects []F, why string)
	Vars func(C) map[string]string // as in System
	// Ghosts are the variables that only the spec has.
	Ghosts []string
}

// Name is the spec's name.
func (p Part[C, F]) Name() string { return p.Spec }

// Compare compares each step of the spec with the code.
func (p Part[C, F]) Compare(g *graph.Graph) (Figures, error) {
	type none struct{}
	return System[C, move, F, none]{
		Spec: p.Spec, Starts: []Start[C, none]{{State: p.First}}, Step: p.Step, Ghosts: p.Ghosts,
		EventsAt: func(_ C, _ none, node graph.Node, out []graph.Edge) []Labelled[move] {
			var all []Labelled[move]
			for _, e := range out {
				all = append(all, Labelled[move]{e.Label(), move{e, node.Vars, g.Nodes[e.To].Vars}})
			}
			return all
		},
		Vars: func(c C, _ none) map[string]string { return p.Vars(c) },
	}.Compare(g)
}
