// Package graph is an explored spec: its states and the steps between them, as the
// checker found them, and what can be decided on it.
//
// What a run may do for ever, and so what liveness means:
//   - It may stop in any state, unless something fair is left undone there.
//   - A weakly fair action happens again and again if from some time on it is always possible, a
//     strongly fair one if it is possible again and again. It has happened when it was taken,
//     whether or not it changed anything.
//   - What a fair choice can choose is chosen again and again if one comes to the choice again
//     and again, weak or strong: a choice is not waited for, it is made.
//   - An action that yielded half-way goes on, fair or not, where it can.
//   - A crash may come at any time, but not for ever.
package graph

import "maps"

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
// Inner is what a state holds besides: the fields of roles, actions that have begun, messages
// under way, what functions returned; nil where there is nothing.
type Node struct {
	Vars, Inner map[string]string
}

// All is everything a state holds, for a reader.
func (n Node) All() map[string]string {
	if n.Inner == nil {
		return n.Vars
	}
	out := maps.Clone(n.Vars)
	maps.Copy(out, n.Inner)
	return out
}

// Choice is what an `any` chose on the way of a step.
type Choice struct {
	Var, Value string
	// At is where a fair choice is written, empty for an unfair one: whatever can be chosen there
	// is chosen again and again if one comes there again and again.
	At string
}

// Edge is one whole step: an action from its start to its end, with what was chosen in it.
type Edge struct {
	From, To int
	Action   string
	Choices  []Choice
	Fair     Fairness
	// Pledge is whom the fairness is promised to, where that is more than the action's name.
	Pledge string
	// Fault marks a crash: it may happen, but not for ever.
	Fault bool
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
