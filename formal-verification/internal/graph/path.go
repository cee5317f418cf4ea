package graph

// Shortest paths through a graph.

import "slices"

// Path is a path through the graph: its first node and its edges.
type Path struct {
	Start int
	Edges []int
}

func (g *Graph) End(p Path) int {
	if len(p.Edges) == 0 {
		return p.Start
	}
	return g.Edges[p.Edges[len(p.Edges)-1]].To
}

// PathTo returns a shortest path from a first state to a wanted one, or nil if none can be reached.
func (g *Graph) PathTo(want func(node int) bool) *Path {
	return g.search(g.Init, g.through(anyNode), want, noEdge)
}

// ways says which edges a path may take from a node.
type ways func(node int) []int

// through returns the edges that lead to allowed nodes.
func (g *Graph) through(may func(node int) bool) ways {
	out := make([][]int, len(g.Nodes))
	for i, e := range g.Edges {
		if may(e.To) {
			out[e.From] = append(out[e.From], i)
		}
	}
	return func(node int) []int { return out[node] }
}

// only returns the edges of a part.
func (g *Graph) only(p part) ways {
	out := map[int][]int{}
	for _, i := range p.edges {
		out[g.Edges[i].From] = append(out[g.Edges[i].From], i)
	}
	return func(node int) []int { return out[node] }
}

func anyNode(int) bool { return true }

func noEdge(int) bool { return false }

// search returns a shortest path from one of the given nodes to a wanted node or over a wanted edge, or nil. It searches breadth first.
func (g *Graph) search(from []int, next ways, wantNode, wantEdge func(int) bool) *Path {
	const start = -1
	came := map[int]int{} // the edge by which each node was reached
	back := func(n int, edges ...int) *Path {
		for ; came[n] != start; n = g.Edges[came[n]].From {
			edges = append(edges, came[n])
		}
		slices.Reverse(edges)
		return &Path{Start: n, Edges: edges}
	}
	queue := slices.Clone(from)
	for _, n := range from {
		came[n] = start
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if wantNode(n) {
			return back(n)
		}
		for _, i := range next(n) {
			if wantEdge(i) {
				return back(n, i)
			}
			if _, reached := came[g.Edges[i].To]; !reached {
				came[g.Edges[i].To] = i
				queue = append(queue, g.Edges[i].To)
			}
		}
	}
	return nil
}

// Run returns a path as steps, for a reader. For nil it returns none.
func (g *Graph) Run(p *Path) []Step {
	if p == nil {
		return nil
	}
	return append([]Step{{Label: "Init", Changes: Diff(nil, g.Nodes[p.Start].All())}}, g.steps(p.Edges)...)
}

func (g *Graph) steps(edges []int) []Step {
	out := make([]Step, 0, len(edges))
	for _, i := range edges {
		e := g.Edges[i]
		out = append(out, Step{Label: e.Label(), Changes: Diff(g.Nodes[e.From].All(), g.Nodes[e.To].All())})
	}
	return out
}
