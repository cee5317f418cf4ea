package graph

// Liveness: decides whether every fair run reaches a state again and again, and finds a run that does not.

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
	fair := g.where(open)
	reached := g.reach(g.Init, anyNode)
	var asked []int
	for n := range g.Nodes {
		if reached[n] && when(n) && open(n) {
			asked = append(asked, n)
		}
	}
	l := g.lasso(fair, nil, asked, open)
	if l == nil {
		return nil
	}
	way := g.PathTo(func(n int) bool { return n == l.Path.Start })
	l.Path = Path{Start: way.Start, Edges: append(way.Edges, l.Path.Edges...)}
	return l
}

func anyNode(int) bool { return true }

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

// reach returns which nodes can be reached from the given ones through allowed nodes.
func (g *Graph) reach(from []int, may func(int) bool) []bool {
	seen := make([]bool, len(g.Nodes))
	out := g.out()
	work := append([]int(nil), from...)
	for _, n := range from {
		seen[n] = true
	}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, i := range out[n] {
			if to := g.Edges[i].To; !seen[to] && may(to) {
				seen[to] = true
				work = append(work, to)
			}
		}
	}
	return seen
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
	pass := func(e Edge) bool { return may(e.To) }
	stops := func(n int) bool {
		_, ok := home[n]
		return ok && (must == nil || must[n]) && unkept(pledges, []int{n}, nil) == nil
	}
	if p := g.search(from, stops, pass); p != nil {
		return &Lasso{Path: *p}
	}
	p := g.search(from, func(n int) bool { _, ok := home[n]; return ok }, pass)
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
	extend := func(wantNode func(int) bool, wantEdge func(int) bool) {
		round = append(round, local.excursion(at, wantNode, wantEdge)...)
	}
	if must != nil {
		extend(func(n int) bool { return must[n] }, func(int) bool { return false })
	}
	for {
		p := unkept(pledges, local.nodesOf(at, round), round)
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

// region is a part of the graph with its edges by node, for walks.
type region struct {
	g   *Graph
	out map[int][]int
}

func (g *Graph) only(p part) region {
	r := region{g: g, out: map[int][]int{}}
	for _, i := range p.edges {
		r.out[g.Edges[i].From] = append(r.out[g.Edges[i].From], i)
	}
	return r
}

func (r region) nodesOf(at int, round []int) []int {
	nodes := []int{at}
	for _, i := range round {
		nodes = append(nodes, r.g.Edges[i].To)
	}
	return nodes
}

// excursion returns a shortest walk to a wanted node or over a wanted edge, and back.
func (r region) excursion(at int, wantNode, wantEdge func(int) bool) []int {
	there := r.walk(at, wantNode, wantEdge)
	end := at
	if len(there) > 0 {
		end = r.g.Edges[there[len(there)-1]].To
	}
	back := r.walk(end, func(n int) bool { return n == at }, func(int) bool { return false })
	return append(there, back...)
}

func (r region) walk(at int, wantNode, wantEdge func(int) bool) []int {
	came := map[int]int{at: start}
	queue := []int{at}
	trace := func(n int) []int {
		p := r.g.back(came, n)
		return p.Edges
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if wantNode(n) {
			return trace(n)
		}
		for _, i := range r.out[n] {
			if wantEdge(i) {
				return append(trace(n), i)
			}
			if to := r.g.Edges[i].To; !seen(came, to) {
				came[to] = i
				queue = append(queue, to)
			}
		}
	}
	panic("a fair part has no way to what makes it fair")
}
