package graph_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// The brute force knows nothing of components: what a run does for ever is a set of edges that
// one closed walk can go through, or a node in which it stops. It tries every such set.

const (
	bruteGraphs = 6000
	bruteEdges  = 7
)

func TestLivenessAgainstBruteForce(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 14))
	held, broken := 0, 0
	for range bruteGraphs {
		g := randomGraph(random)
		goal := map[int]bool{}
		for n := range g.Nodes {
			goal[n] = random.IntN(3) == 0
		}
		holds := func(n int) bool { return goal[n] }
		for name, test := range map[string]struct {
			lasso *graph.Lasso
			bad   func(nodes map[int]bool) bool
		}{
			"always eventually": {g.AlwaysEventually(holds), func(nodes map[int]bool) bool { return !some(nodes, holds) }},
			"eventually always": {g.EventuallyAlways(holds), func(nodes map[int]bool) bool {
				return some(nodes, func(n int) bool { return !goal[n] })
			}},
		} {
			ok := NewWithT(t)
			want := bruteForce(g, test.bad)
			ok.Expect(test.lasso != nil).To(Equal(want), "%s, goal %v, %+v", name, goal, g)
			if test.lasso == nil {
				held++
				continue
			}
			broken++
			nodes, edges := walked(ok, g, test.lasso)
			ok.Expect(fair(g, nodes, edges)).To(BeTrue(), "%s, %v, %+v", name, test.lasso, g)
			ok.Expect(test.bad(nodes)).To(BeTrue(), "%s, %v, %+v", name, test.lasso, g)
		}
	}
	NewWithT(t).Expect(min(held, broken)).To(BeNumerically(">", bruteGraphs/4), "both outcomes are common")
}

func randomGraph(random *rand.Rand) *graph.Graph {
	lines := make([]string, 0, bruteEdges)
	nodes := 2 + random.IntN(3)
	fairness := map[string]string{}
	for range 1 + random.IntN(bruteEdges) {
		action := string(rune('A' + random.IntN(3)))
		if _, ok := fairness[action]; !ok {
			fairness[action] = []string{"", "!", "!!"}[random.IntN(3)]
		}
		line := fmt.Sprintf("%d -> %d %s%s", random.IntN(nodes), random.IntN(nodes), action, fairness[action])
		switch random.IntN(10) {
		case 0, 1, 2:
			line += fmt.Sprintf(" x=%d*", random.IntN(2))
		case 3:
			line += fmt.Sprintf(" x=%d* y=%d*", random.IntN(2), random.IntN(2))
		case 4:
			if fairness[action] == "" {
				line += "~"
			}
		}
		lines = append(lines, line)
	}
	lines = append(lines, fmt.Sprintf("%d -> %d Z", nodes-1, random.IntN(nodes)))
	return build(lines...)
}

// bruteForce looks for a fair way to go on for ever, among what can be reached, through nodes that are bad together.
func bruteForce(g *graph.Graph, bad func(map[int]bool) bool) bool {
	reached := map[int]bool{}
	spread(reached, 0, g.Edges, func(graph.Edge) bool { return true })
	for n := range g.Nodes {
		if alone := map[int]bool{n: true}; reached[n] && bad(alone) && fair(g, alone, nil) {
			return true
		}
	}
	for set := 1; set < 1<<len(g.Edges); set++ {
		nodes, edges := map[int]bool{}, map[int]bool{}
		fault := false
		for i, e := range g.Edges {
			if set&(1<<i) != 0 {
				edges[i], nodes[e.From], nodes[e.To] = true, true, true
				fault = fault || e.Fault
			}
		}
		if !fault && closed(g, nodes, edges) && reached[anyKey(nodes)] && bad(nodes) && fair(g, nodes, edges) {
			return true
		}
	}
	return false
}

// closed says whether one walk can go through all these edges and come back: every node reaches every other.
func closed(g *graph.Graph, nodes, edges map[int]bool) bool {
	for n := range nodes {
		seen := map[int]bool{}
		var chosen []graph.Edge
		for i := range edges {
			chosen = append(chosen, g.Edges[i])
		}
		spread(seen, n, chosen, func(graph.Edge) bool { return true })
		if len(seen) != len(nodes) {
			return false
		}
	}
	return true
}

func spread(seen map[int]bool, from int, edges []graph.Edge, may func(graph.Edge) bool) {
	if seen[from] {
		return
	}
	seen[from] = true
	for _, e := range edges {
		if e.From == from && may(e) {
			spread(seen, e.To, edges, may)
		}
	}
}

// fair applies the definitions of fairness, word by word, to what happens again and again.
func fair(g *graph.Graph, nodes, edges map[int]bool) bool {
	for _, e := range g.Edges {
		taken := false
		always, sometimes := true, false
		for i := range edges {
			taken = taken || g.Edges[i].Action == e.Action
		}
		for n := range nodes {
			possible := enabled(g, n, e.Action)
			always, sometimes = always && possible, sometimes || possible
		}
		if !taken && (e.Fair == graph.Weak && always || e.Fair == graph.Strong && sometimes) {
			return false
		}
		for k, c := range e.Choices {
			if c.At != "" && offeredButNeverChosen(g, edges, e, k) {
				return false
			}
		}
	}
	return true
}

func enabled(g *graph.Graph, node int, action string) bool {
	for _, e := range g.Edges {
		if e.From == node && e.Action == action {
			return true
		}
	}
	return false
}

// offeredButNeverChosen: the k-th choice of e is come to again and again, but never made as e makes it.
func offeredButNeverChosen(g *graph.Graph, edges map[int]bool, e graph.Edge, k int) bool {
	comes, chosen := false, false
	for i := range edges {
		other := g.Edges[i]
		if other.From == e.From && other.Action == e.Action && len(other.Choices) > k && sameStart(other, e, k) {
			comes = true
		}
		for _, c := range other.Choices {
			chosen = chosen || c == e.Choices[k]
		}
	}
	return comes && !chosen
}

func sameStart(a, b graph.Edge, k int) bool {
	for i := range k {
		if a.Choices[i] != b.Choices[i] {
			return false
		}
	}
	return true
}

// walked checks that a lasso is a walk from the first node that comes back to where it began to
// repeat, and returns what repeats.
func walked(ok *WithT, g *graph.Graph, l *graph.Lasso) (nodes, edges map[int]bool) {
	ok.Expect(l.Path.Start).To(Equal(0))
	at := l.Path.Start
	for _, i := range l.Path.Edges {
		ok.Expect(g.Edges[i].From).To(Equal(at))
		at = g.Edges[i].To
	}
	nodes, edges = map[int]bool{at: true}, map[int]bool{}
	round := at
	for _, i := range l.Loop {
		ok.Expect(g.Edges[i].From).To(Equal(round))
		ok.Expect(g.Edges[i].Fault).To(BeFalse())
		round = g.Edges[i].To
		nodes[round], edges[i] = true, true
	}
	ok.Expect(round).To(Equal(at))
	return nodes, edges
}

func some(nodes map[int]bool, want func(int) bool) bool {
	for n := range nodes {
		if want(n) {
			return true
		}
	}
	return false
}

func anyKey(m map[int]bool) int {
	for k := range m {
		return k
	}
	return -1
}
