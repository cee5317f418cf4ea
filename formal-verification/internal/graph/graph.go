// Package graph is the graph of an explored spec: its states, and the steps between them. The
// package decides liveness properties on this graph.
//
// A run is a path through the graph that goes on for ever or stops. Liveness is decided for the runs that keep these rules:
//   - A run may stop in any state in which no fair action is possible.
//   - A weakly fair action happens again and again if from some time on it is always possible, a
//     strongly fair one if it is possible again and again. It has happened when it was taken,
//     whether or not it changed anything.
//   - If a run makes a fair choice again and again, weak or strong, each alternative is chosen again
//     and again.
//   - An action that has begun and yielded goes on when it can, fair or not.
//   - A crash may come at any time, but not for ever.
package graph

import "maps"

// Fairness is the promise of an action: none; weak: it happens if it stays possible; strong: it happens if it becomes possible
// again and again.
type Fairness uint8

// The levels of fairness.
const (
	Unfair Fairness = iota
	Weak
	Strong
)

// Node is one state. Vars are the spec's variables, with their values in JSON. Inner is the rest of the state: fields of roles,
// actions that have begun, messages on their way, results of functions. It is nil if there is nothing.
type Node struct {
	Vars, Inner map[string]string
}

// All returns Vars and Inner together, for a reader.
func (n Node) All() map[string]string {
	if n.Inner == nil {
		return n.Vars
	}
	out := maps.Clone(n.Vars)
	maps.Copy(out, n.Inner)
	return out
}

// Choice is a value that `any` chose in a step.
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

// Label returns the action with its choices, for example "Cancel target=2".
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
