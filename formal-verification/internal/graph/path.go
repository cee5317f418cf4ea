package graph

// Shortest paths through a graph.

import "slices"

// out returns, for each node, the edges that leave it.
func (g *Graph) out() [][]int {
	from := make([][]int, len(g.Nodes))
	for i, e := range g.Edges {
		from[e.From] = append(from[e.From], i)
	}
	return from
}

// Path is a path through the graph: its first node and its edges.
type Path struct {
	Start int
	Edges []int
}

// End returns the last node of a path.
func (g *Graph) End(p Path) int {
	if len(p.Edges) == 0 {
		return p.Start
	}
	return g.Edges[p.Edges[len(p.Edges)-1]].To
}

// PathTo returns a shortest path from a first state to a wanted one, or nil if none can be reached.
func (g *Graph) PathTo(want func(node int) bool) *Path {
	return g.search(g.Init, want, func(Edge) bool { return true })
}

// search returns a shortest path from one of the given nodes to a wanted one, over allowed edges, or nil. It searches breadth first.
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

// start marks the nodes where a search began.
const start = -1

func seen(came map[int]int, n int) bool {
	_, ok := came[n]
	return ok
}

// back returns the path by which a search reached a node.
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
