// Package graph is an explored spec: its states and the steps between them, as the
// checker found them, and what can be decided on it.
package graph

// Fairness is what a step's action promises: nothing, to happen when it stays
// possible, or to happen when it becomes possible again and again.
type Fairness uint8

// The levels of fairness.
const (
	Unfair Fairness = iota
	Weak
	Strong
)

// Node is one state. Vars are the spec's variables, each as the checker writes its value in JSON.
type Node struct {
	Vars map[string]string
}

// Choice is what an `any` chose on the way of a step.
type Choice struct {
	Var, Value string
}

// Edge is one whole step: an action from its start to its end, with what was chosen in it.
type Edge struct {
	From, To int
	Action   string
	Choices  []Choice
	Fair     Fairness
}

// Label is the action with its choices, such as "Cancel target=2".
func (e Edge) Label() string {
	out := e.Action
	for _, c := range e.Choices {
		out += " " + c.Var + "=" + c.Value
	}
	return out
}

// Graph is a whole state space. Edges are in the order of their From; Init are the states it begins in.
type Graph struct {
	Nodes []Node
	Edges []Edge
	Init  []int
}
