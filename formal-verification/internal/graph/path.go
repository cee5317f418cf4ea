package graph

// Shortest paths through a graph.

import "slices"

// out is, node by node, the edges that leave it.
func (g *Graph) out() [][]int {
	from := make([][]int, len(g.Nodes))
	for i, e := range g.Edges {
		from[e.From] = append(from[e.From], i)
	}
	return from
}

// Path is a way through the graph: where it starts, and its edges.
type Path struct {
	Start int
	Edges []int
}

// End is the node where a path leads.
func (g *Graph) End(p Path) int {
	if len(p.Edges) == 0 {
		return p.Start
	}
	return g.Edges[p.Edges[len(p.Edges)-1]].To
}

// PathTo is a shortest path from a first state to one that is wanted, nil where none is reachable.
func (g *Graph) PathTo(want func(node int) bool) *Path {
	return g.search(g.Init, want, func(Edge) bool { return true })
}

// search is breadth first, over the edges that may be taken.
func (g *Graph) search(from []int, want func(int) bool, may func(Edge) bool) *Path {
	out := g.out()
	came := map[int]int{}
	queue := slices.Clone(from)
	for _, n := range from {
		came[n] = start
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if want(n) {
			return g.back(came, n)
		}
		for _, i := range out[n] {
			if to := g.Edges[i].To; !seen(came, to) && may(g.Edges[i]) {
				came[to] = i
				queue = append(queue, to)
			}
		}
	}
	return nil
}

// start is how a search came to where it began.
const start = -1

func seen(came map[int]int, n int) bool {
	_, ok := came[n]
	return ok
}

// back is the path by which a search came to a node.
func (g *Graph) back(came map[int]int, n int) *Path {
	p := &Path{}
	for came[n] != start {
		p.Edges = append(p.Edges, came[n])
		n = g.Edges[came[n]].From
	}
	slices.Reverse(p.Edges)
	p.Start = n
	return p
}

// Run tells a path for a reader; nil tells nothing.
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
