package graph

// Strongly connected components of a part of a graph.

// part is a part of a graph: some nodes, and edges between them.
type part struct {
	nodes []int
	edges []int
}

// components returns the strongly connected components of a part. A single node is one too, because a run may stop in it. This is
// Tarjan's algorithm, with a stack in place of recursion.
func (g *Graph) components(of part) []part {
	t := &tarjan{g: g, out: map[int][]int{}, seen: map[int]int{}, low: map[int]int{}, in: map[int]int{}}
	inside := make(map[int]bool, len(of.nodes))
	for _, n := range of.nodes {
		inside[n] = true
	}
	for _, e := range of.edges {
		if inside[g.Edges[e].From] && inside[g.Edges[e].To] {
			t.out[g.Edges[e].From] = append(t.out[g.Edges[e].From], e)
		}
	}
	for _, n := range of.nodes {
		if _, ok := t.seen[n]; !ok {
			t.visit(n)
		}
	}
	for _, e := range of.edges {
		from, to := g.Edges[e].From, g.Edges[e].To
		if c := t.in[from]; inside[from] && inside[to] && c == t.in[to] {
			t.found[c].edges = append(t.found[c].edges, e)
		}
	}
	return t.found
}

type tarjan struct {
	g         *Graph
	out       map[int][]int
	seen, low map[int]int
	in        map[int]int // the component of a node that is done
	stack     []int
	found     []part
}

// frame is a node that is being visited, and the index of its next edge.
type frame struct{ node, next int }

func (t *tarjan) visit(root int) {
	way := []frame{t.enter(root)}
	for len(way) > 0 {
		f := &way[len(way)-1]
		if edges := t.out[f.node]; f.next < len(edges) {
			to := t.g.Edges[edges[f.next]].To
			f.next++
			if at, ok := t.seen[to]; !ok {
				way = append(way, t.enter(to))
			} else if _, done := t.in[to]; !done {
				t.low[f.node] = min(t.low[f.node], at)
			}
			continue
		}
		way = way[:len(way)-1]
		if len(way) > 0 {
			up := way[len(way)-1].node
			t.low[up] = min(t.low[up], t.low[f.node])
		}
		if t.low[f.node] == t.seen[f.node] {
			t.leave(f.node)
		}
	}
}

func (t *tarjan) enter(n int) frame {
	t.seen[n] = len(t.seen)
	t.low[n] = t.seen[n]
	t.stack = append(t.stack, n)
	return frame{node: n}
}

// leave removes a whole component from the stack.
func (t *tarjan) leave(root int) {
	var c part
	for {
		n := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.in[n] = len(t.found)
		c.nodes = append(c.nodes, n)
		if n == root {
			break
		}
	}
	t.found = append(t.found, c)
}
