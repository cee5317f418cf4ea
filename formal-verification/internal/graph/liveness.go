package graph

// Liveness: decides whether every fair run reaches a state again and again, and finds a run that does not.

import "slices"

// Lasso is a run that goes on for ever: a path, and then steps that repeat. Without such steps the run stops in the path's last node.
type Lasso struct {
	Path Path
	Loop []int
}

// Tell returns a lasso as steps, for a reader.
func (g *Graph) Tell(l *Lasso) []Step {
	steps := g.Run(&l.Path)
	if len(l.Loop) == 0 {
		return append(steps, Step{Label: "nothing more happens", Loop: true})
	}
	for _, s := range g.steps(l.Loop) {
		s.Loop = true
		steps = append(steps, s)
	}
	return steps
}

// AlwaysEventually decides whether every fair run visits, again and again, a node for which holds is true. It returns a run that
// does not, or nil.
func (g *Graph) AlwaysEventually(holds func(node int) bool) *Lasso {
	return g.lasso(g.where(func(n int) bool { return !holds(n) }), nil, g.Init, anyNode)
}

// EventuallyAlways decides whether in every fair run holds is true for all nodes from some step on. It returns a run in which it
// is not, or nil.
func (g *Graph) EventuallyAlways(holds func(node int) bool) *Lasso {
	broken := map[int]bool{}
	for n := range g.Nodes {
		if !holds(n) {
			broken[n] = true
		}
	}
	return g.lasso(g.where(anyNode), broken, g.Init, anyNode)
}

// Responds decides whether in every fair run each node for which when is true is followed by a node for which then is true, or is
// such a node itself. It returns a run in which this is not so, or nil.
func (g *Graph) Responds(when, then func(node int) bool) *Lasso {
	open := func(n int) bool { return !then(n) }
	var asked []int
	g.search(g.Init, g.through(anyNode), func(n int) bool {
		if when(n) && open(n) {
			asked = append(asked, n)
		}
		return false // to meet every node
	}, noEdge)
	l := g.lasso(g.where(open), nil, asked, open)
	if l == nil {
		return nil
	}
	way := g.PathTo(func(n int) bool { return n == l.Path.Start })
	l.Path = Path{Start: way.Start, Edges: append(way.Edges, l.Path.Edges...)}
	return l
}

// where returns the part of the graph with the wanted nodes, without crashes, because crashes do not go on for ever.
func (g *Graph) where(want func(int) bool) part {
	var p part
	for n := range g.Nodes {
		if want(n) {
			p.nodes = append(p.nodes, n)
		}
	}
	for i, e := range g.Edges {
		if !e.Fault && want(e.From) && want(e.To) {
			p.edges = append(p.edges, i)
		}
	}
	return p
}

// lasso returns a fair run that leads from one of the given nodes through allowed nodes into the part, stays there for ever, and
// visits a node of must again and again. It returns nil if there is none.
func (g *Graph) lasso(within part, must map[int]bool, from []int, may func(int) bool) *Lasso {
	pledges := g.pledges()
	home := map[int]part{}
	for _, p := range g.fairParts(within, pledges, must) {
		for _, n := range p.nodes {
			home[n] = p
		}
	}
	next := g.through(may)
	stops := func(n int) bool {
		_, ok := home[n]
		return ok && (must == nil || must[n]) && unkept(pledges, []int{n}, nil) == nil
	}
	if p := g.search(from, next, stops, noEdge); p != nil {
		return &Lasso{Path: *p}
	}
	p := g.search(from, next, func(n int) bool { _, ok := home[n]; return ok }, noEdge)
	if p == nil {
		return nil
	}
	at := g.End(*p)
	return &Lasso{Path: *p, Loop: g.tour(at, home[at], pledges, must)}
}

// tour returns a cycle through a fair part that keeps every promise. It begins with a cycle through a node of must. While a
// promise is not kept, it adds a cycle from the same node that keeps it.
func (g *Graph) tour(at int, through part, pledges []*pledge, must map[int]bool) []int {
	local := g.only(through)
	var round []int
	// extend adds a shortest walk to a wanted node or over a wanted edge, and back.
	extend := func(wantNode, wantEdge func(int) bool) {
		there := g.search([]int{at}, local, wantNode, wantEdge)
		back := g.search([]int{g.End(*there)}, local, func(n int) bool { return n == at }, noEdge)
		round = slices.Concat(round, there.Edges, back.Edges)
	}
	if must != nil {
		extend(func(n int) bool { return must[n] }, noEdge)
	}
	for {
		nodes := []int{at}
		for _, i := range round {
			nodes = append(nodes, g.Edges[i].To)
		}
		p := unkept(pledges, nodes, round)
		if p == nil {
			return round
		}
		extend(
			func(n int) bool { return p.level == Weak && !p.nodes[n] },
			func(e int) bool { return p.taken[e] },
		)
	}
}

// unkept returns a promise that a run through these nodes and edges for ever breaks, or nil.
func unkept(pledges []*pledge, nodes, edges []int) *pledge {
	for _, p := range pledges {
		if anyOf(edges, p.taken) {
			continue
		}
		if p.level == Weak && allOf(nodes, p.nodes) {
			return p
		}
		if p.level == Strong && (anyOf(nodes, p.nodes) || anyOf(edges, p.steps)) {
			return p
		}
	}
	return nil
}
