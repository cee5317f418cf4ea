package check

// Collects what FizzBee explored: the graph, and the first failure with the steps that lead to it.

import (
	"slices"

	ast "fizz/proto"
	"github.com/fizzbee-io/fizzbee/modelchecker"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// collect returns what FizzBee has explored as an answer.
func collect(f *ast.File, config *ast.StateSpaceOptions, checked []int, root, failed *modelchecker.Node) *answer {
	a := &answer{
		Complete:          failed == nil,
		FailedAssertion:   -1,
		Stuck:             -1,
		Checked:           checked,
		DeadlockDetection: config.GetDeadlockDetection(),
		LivenessOff:       !slices.Contains(live, config.GetLiveness()),
		Witness:           map[int][]bool{},
	}
	most := config.GetOptions().GetMaxActions()
	nodes, _, stuck, states := modelchecker.GetAllNodes(root, most)
	a.Nodes, a.States = len(nodes), states
	if failed != nil {
		a.FailedAssertion = firstFailed(failed)
		a.Path = wayTo(root, failed)
		return a
	}
	x := newExport(root, nodes)
	a.Graph = x.graph
	if stuck != nil {
		a.Deadlock, a.Stuck = true, x.at(stuck)
	}
	for i, inv := range f.GetInvariants() {
		if kind := kindOf(inv); kind == Exists || lively(kind) {
			a.Witness[i] = x.witness(i)
		}
	}
	if slices.ContainsFunc(f.GetInvariants(), func(inv *ast.Invariant) bool { return kindOf(inv) == Transition }) {
		a.BrokenSteps = x.brokenLeaps()
	}
	for _, n := range x.nodes {
		a.MaxActionsReached = a.MaxActionsReached || int64(n.Stats.TotalActions) >= most
	}
	return a
}

// firstFailed returns the index of the first assertion that fails in a node or on the step to it.
func firstFailed(n *modelchecker.Node) int {
	places := []map[int][]int{n.FailedInvariants}
	if len(n.Inbound) > 0 {
		places = append(places, n.Inbound[0].FailedInvariants)
	}
	for _, place := range places {
		if len(place[0]) > 0 {
			return place[0][0]
		}
	}
	return -1
}

func wayTo(root, n *modelchecker.Node) []graph.Step {
	var links []*modelchecker.Link
	for at := n; at != root && len(at.Inbound) > 0; at = at.Inbound[0].Node {
		back := *at.Inbound[0]
		back.Node = at
		links = append(links, &back)
	}
	slices.Reverse(links)

	var steps []graph.Step
	was := map[string]string{}
	e := graph.Edge{Action: initAction}
	started := true
	arrive := func(at *modelchecker.Node) {
		is := stateOf(at).All()
		steps = append(steps, graph.Step{Label: e.Label(), Changes: graph.Diff(was, is)})
		was, started = is, false
	}
	if isYield(root) {
		arrive(root)
	}
	from := root
	for _, l := range links {
		if started {
			e.Choices = append(e.Choices, choicesOf(from, l, e.Action)...)
		} else {
			e, started = begin(from, l), true
		}
		if isYield(l.Node) || l.Node == n {
			arrive(l.Node)
		}
		from = l.Node
	}
	return steps
}
