package graph_test

// Helpers: graphs from a short text form.

import (
	"fmt"
	"strings"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// build makes a graph of lines such as "0 -> 1 Go!" (a step from 0 to 1, weakly fair; "!!"
// strongly, "~" a crash) and "0 -> 1 Go! x=1*" (with a choice, here a fair one). Node 0 is first.
func build(lines ...string) *graph.Graph {
	g := &graph.Graph{Init: []int{0}}
	for _, line := range lines {
		var e graph.Edge
		var name string
		if _, err := fmt.Sscanf(line, "%d -> %d %s", &e.From, &e.To, &name); err != nil {
			panic(fmt.Sprintf("%q: %v", line, err))
		}
		e.Action = strings.TrimRight(name, "!~")
		e.Fair = graph.Fairness(strings.Count(name, "!"))
		e.Fault = strings.HasSuffix(name, "~")
		for _, word := range strings.Fields(line)[4:] {
			v, value, _ := strings.Cut(strings.TrimSuffix(word, "*"), "=")
			c := graph.Choice{Var: v, Value: value}
			if strings.HasSuffix(word, "*") {
				c.At = e.Action
			}
			e.Choices = append(e.Choices, c)
		}
		for len(g.Nodes) <= max(e.From, e.To) {
			g.Nodes = append(g.Nodes, graph.Node{Vars: map[string]string{"at": fmt.Sprint(len(g.Nodes))}})
		}
		g.Edges = append(g.Edges, e)
	}
	return g
}

// in says that a node is one of these.
func in(nodes ...int) func(int) bool {
	return func(n int) bool {
		for _, m := range nodes {
			if n == m {
				return true
			}
		}
		return false
	}
}

// labels are the steps of a run, after the first; those that repeat follow a bar.
func labels(g *graph.Graph, l *graph.Lasso) string {
	if l == nil {
		return "holds"
	}
	var out []string
	loop := false
	for _, s := range g.Tell(l)[1:] {
		if s.Loop && !loop {
			loop = true
			out = append(out, "|")
		}
		out = append(out, s.Label)
	}
	return strings.Join(out, " ")
}
