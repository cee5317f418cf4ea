package graph

// Strongly connected components of a part of a graph.

import "slices"

// part is a part of a graph: some nodes, and edges between them.
type part struct {
	nodes []int
	edges []int
}

// components returns the strongly connected components of a part. A single node is one too, because a run may stop in it. This is
// Tarjan's algorithm.
func (g *Graph) components(of part) []part {
	const outside = -1 // the number of a node that has no component yet
	in := map[int]int{}
	for _, n := range of.nodes {
		in[n] = outside
	}
	next := g.only(of)
	met := map[int]int{} // the nodes, by when they were met
	var found []part
	var open []int // the nodes that were met and have no component yet
	var visit func(n int) int
	visit = func(n int) (low int) {
		first := len(open)
		open = append(open, n)
		met[n] = len(met)
		low = met[n]
		for _, e := range next(n) {
			to := g.Edges[e].To
			component, inside := in[to]
			if at, before := met[to]; inside && !before {
				low = min(low, visit(to))
			} else if inside && component == outside {
				low = min(low, at)
			}
		}
		if low == met[n] {
			for _, member := range open[first:] {
				in[member] = len(found)
			}
			found = append(found, part{nodes: slices.Clone(open[first:])})
			open = open[:first]
		}
		return low
	}
	for _, n := range of.nodes {
		if _, before := met[n]; !before {
			visit(n)
		}
	}
	for _, e := range of.edges {
		from, inside := in[g.Edges[e].From]
		if to, is := in[g.Edges[e].To]; inside && is && from == to {
			found[from].edges = append(found[from].edges, e)
		}
	}
	return found
}
