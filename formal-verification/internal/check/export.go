package check

// Converts FizzBee's graph into package graph's: its nodes are the states between actions, its edges are whole steps.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	ast "fizz/proto"
	"github.com/fizzbee-io/fizzbee/lib"
	"github.com/fizzbee-io/fizzbee/modelchecker"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

const initAction = "Init"

// maxEdges limits the exported graph: one atomic action may have any number of paths through it.
const maxEdges = 2_000_000

// maxChoices limits the number of choices in one step.
const maxChoices = 1000

// export is FizzBee's graph as ours: its nodes are the states between actions, its edges whole steps.
type export struct {
	graph graph.Graph
	nodes []*modelchecker.Node
	index map[*modelchecker.Node]int
	// leaps are the edges of steps that changed something before they chose.
	leaps []int
}

// way is a step of which only the beginning is known yet.
type way struct {
	graph.Edge
	from  *modelchecker.Node
	leap  bool
	found func(way)
}

func newExport(root *modelchecker.Node, nodes []*modelchecker.Node) *export {
	x := &export{index: map[*modelchecker.Node]int{}}
	for _, n := range nodes {
		if isYield(n) {
			x.index[n] = len(x.nodes)
			x.nodes = append(x.nodes, n)
			x.graph.Nodes = append(x.graph.Nodes, stateOf(n))
		}
	}
	if i, ok := x.index[root]; ok {
		x.graph.Init = []int{i}
	} else {
		x.inside(root, way{Edge: graph.Edge{Action: initAction}, from: root, found: x.begins})
	}
	for i, n := range x.nodes {
		seen := map[string]bool{}
		found := func(w way) {
			if key := fmt.Sprint(w.To, w.Label()); !seen[key] {
				seen[key] = true
				x.add(w)
			}
		}
		for _, l := range n.Outbound {
			e := begin(n, l)
			e.From = i
			x.follow(l, way{Edge: e, from: n, found: found})
		}
	}
	return x
}

func (x *export) begins(w way) {
	if !slices.Contains(x.graph.Init, w.To) {
		x.graph.Init = append(x.graph.Init, w.To)
	}
}

func (x *export) add(w way) {
	if len(x.graph.Edges) == maxEdges {
		panic(fmt.Sprintf("more than %d steps: choose less inside the actions", maxEdges))
	}
	if w.leap {
		x.leaps = append(x.leaps, len(x.graph.Edges))
	}
	x.graph.Edges = append(x.graph.Edges, w.Edge)
}

// follow follows a link to the node at which the action yields.
func (x *export) follow(l *modelchecker.Link, w way) {
	if i, ok := x.index[l.Node]; ok {
		w.To = i
		w.found(w)
		return
	}
	w.leap = w.leap || l.Node.Heap.HashCode() != w.from.Heap.HashCode() || len(l.Node.Roles) > 0
	x.inside(l.Node, w)
}

// inside follows every link of a node that is inside an action.
func (x *export) inside(n *modelchecker.Node, w way) {
	if len(w.Choices) > maxChoices {
		panic(fmt.Sprintf("%s can choose more than %d times and not end", w.Action, maxChoices))
	}
	for _, l := range n.Outbound {
		next := w
		next.Choices = append(w.Choices[:len(w.Choices):len(w.Choices)], choicesOf(n, l, w.Action)...)
		x.follow(l, next)
	}
}

// brokenLeaps returns, by assertion, a step that breaks a transition assertion as a whole. FizzBee only checks the pieces of a
// step between two choices, and never the whole step.
func (x *export) brokenLeaps() map[int]int {
	out := map[int]int{}
	for _, i := range x.leaps {
		e := x.graph.Edges[i]
		whole := x.nodes[e.To].CloneForAssert(nil, 0)
		whole.Parent = x.nodes[e.From].Process
		for _, assertion := range modelchecker.CheckTransitionInvariants(whole)[0] {
			if _, ok := out[assertion]; !ok {
				out[assertion] = i
			}
		}
	}
	return out
}

// at returns our node for one of FizzBee's, or -1 if FizzBee's is inside an action.
func (x *export) at(n *modelchecker.Node) int {
	if i, ok := x.index[n]; ok {
		return i
	}
	return -1
}

func (x *export) witness(assertion int) []bool {
	out := make([]bool, len(x.nodes))
	for i, n := range x.nodes {
		out[i] = n.Witness[0][assertion]
	}
	return out
}

// isYield reports whether a node is a state between actions. Its name is not enough to know, because a node that is forked from a
// crashed one has the same name.
func isYield(n *modelchecker.Node) bool {
	switch {
	case n.IsYield, n.Name == "yield":
		return true
	case n.Name == "crash":
		for _, l := range n.Inbound {
			if l.IsCrashLink() {
				return true
			}
		}
	case n.Name == "init":
		return len(n.Inbound) == 0
	}
	return false
}

// begin returns the step that begins with a link out of a state between actions: an action of the spec, or an action that has
// begun before and goes on. An action that has begun is strongly fair. The promise belongs to the thread at its position, because
// the checker renumbers threads.
func begin(n *modelchecker.Node, l *modelchecker.Link) graph.Edge {
	var thread int
	if _, err := fmt.Sscanf(l.Name, "thread-%d", &thread); err == nil && thread < len(n.Threads) && n.Threads[thread] != nil {
		t := n.Threads[thread]
		return graph.Edge{
			Action: fmt.Sprintf("%s/%s", t.Stack.RawArray()[0].Name, l.Name),
			Fair:   graph.Strong,
			Pledge: t.HashCode(),
		}
	}
	return graph.Edge{Action: plain(l.Name), Fair: fairness(l.Fairness), Fault: l.IsCrashLink()}
}

// choicesOf returns the choices of a link inside an action, which are in its name.
func choicesOf(n *modelchecker.Node, l *modelchecker.Link, action string) []graph.Choice {
	kind, what, ok := strings.Cut(plain(l.Name), ":")
	if !ok {
		return nil
	}
	switch kind {
	case "Any":
		name, value, _ := strings.Cut(what, "=")
		c := graph.Choice{Var: name, Value: value}
		if fairness(l.ChoiceFairness) != graph.Unfair {
			c.At = action + "@" + position(n)
		}
		return []graph.Choice{c}
	case "Stmt":
		return []graph.Choice{{Var: "stmt", Value: what}}
	case "For":
		return []graph.Choice{{Var: "for", Value: what}}
	}
	return nil
}

// position returns the statement at which a node inside an action is.
func position(n *modelchecker.Node) string {
	frames := n.Threads[n.Current].Stack.RawArray()
	var top struct{ PC string }
	text, err := json.Marshal(frames[len(frames)-1])
	if err == nil {
		err = json.Unmarshal(text, &top)
	}
	if err != nil {
		panic(fmt.Sprintf("where an action stands is no JSON: %v", err))
	}
	return top.PC
}

func fairness(level ast.FairnessLevel) graph.Fairness {
	switch level {
	case ast.FairnessLevel_FAIRNESS_LEVEL_WEAK:
		return graph.Weak
	case ast.FairnessLevel_FAIRNESS_LEVEL_STRONG:
		return graph.Strong
	default:
		return graph.Unfair
	}
}

// plain removes the random prefix that FizzBee puts into symmetric values.
func plain(s string) string { return strings.ReplaceAll(s, lib.SymmetryPrefix, "") }

// stateOf returns a node's state, each variable in JSON.
func stateOf(n *modelchecker.Node) graph.Node {
	out := graph.Node{Vars: map[string]string{}}
	var vars map[string]json.RawMessage
	if err := json.Unmarshal([]byte(plain(n.Heap.ToJson())), &vars); err != nil {
		panic(fmt.Sprintf("a state is no JSON: %v", err))
	}
	for name, value := range vars {
		out.Vars[name] = string(value)
	}
	inner := map[string]string{}
	for _, role := range n.Roles {
		put(inner, role.RefStringShort(), role)
	}
	for i, thread := range n.Threads {
		if thread != nil {
			put(inner, fmt.Sprintf("thread-%d", i), thread.Stack.RawArray())
		}
	}
	for i, messages := range n.ChannelMessages {
		if len(messages) > 0 {
			put(inner, fmt.Sprintf("channel-%d", i), messages)
		}
	}
	if len(n.Returns) > 0 {
		inner["returns"] = plain(modelchecker.StringDictToJsonString(n.Returns))
	}
	if len(inner) > 0 {
		out.Inner = inner
	}
	return out
}

func put(into map[string]string, name string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%s is no JSON: %v", name, err))
	}
	into[name] = plain(string(text))
}
