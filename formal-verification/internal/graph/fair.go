package graph

// Fairness: decides in which parts of a graph a run can go on for ever and still keep all promises of fairness.

import "strings"

// pledge is one promise of fairness. A run keeps a weak promise if the action is, again and again, either taken or not possible. A
// run keeps a strong promise if the action is taken again and again, or is possible only finitely often. An action is possible (on
// offer) in nodes. A choice is on offer in the steps that make it.
type pledge struct {
	level Fairness
	nodes map[int]bool
	steps map[int]bool
	taken map[int]bool
}

func (g *Graph) pledges() []*pledge {
	byName := map[string]*pledge{}
	var all []*pledge
	get := func(name string) *pledge {
		p := byName[name]
		if p == nil {
			p = &pledge{nodes: map[int]bool{}, steps: map[int]bool{}, taken: map[int]bool{}}
			byName[name] = p
			all = append(all, p)
		}
		return p
	}
	for i, e := range g.Edges {
		if e.Fair == Unfair {
			continue
		}
		p := get(e.pledge())
		p.level = max(p.level, e.Fair)
		p.nodes[e.From], p.taken[i] = true, true
	}
	g.choicePledges(get)
	return all
}

func (e Edge) pledge() string {
	if e.Pledge != "" {
		return e.Pledge
	}
	return e.Action
}

// choicePledges adds the promises of fair choices. Two steps make the same choice if they are the same action from the same node
// and have chosen the same before.
func (g *Graph) choicePledges(get func(string) *pledge) {
	type place struct {
		from   int
		before string
	}
	offered := map[place]map[string]bool{}
	comes := map[place][]int{}
	for i, e := range g.Edges {
		for k, c := range e.Choices {
			if c.At == "" {
				continue
			}
			here := place{e.From, e.upTo(k)}
			name := c.At + "\x00" + c.Var + "=" + c.Value
			p := get(name)
			p.level, p.taken[i] = Strong, true
			if offered[here] == nil {
				offered[here] = map[string]bool{}
			}
			offered[here][name] = true
			comes[here] = append(comes[here], i)
		}
	}
	for here, names := range offered {
		for name := range names {
			for _, i := range comes[here] {
				get(name).steps[i] = true
			}
		}
	}
}

// upTo returns the step's action with the choices before the k-th one.
func (e Edge) upTo(k int) string {
	var b strings.Builder
	b.WriteString(e.Action)
	for _, c := range e.Choices[:k] {
		b.WriteString("\x00" + c.Var + "=" + c.Value)
	}
	return b.String()
}

// fairParts returns the largest parts in which a run can go on for ever, keep every promise, and visit a node of must again and
// again (nil: any node). If a part cannot keep a strong promise, the nodes that offer it are removed, and the rest is examined
// again.
func (g *Graph) fairParts(of part, pledges []*pledge, must map[int]bool) []part {
	var fair []part
	work := []part{of}
	for len(work) > 0 {
		next := work[len(work)-1]
		work = work[:len(work)-1]
		for _, c := range g.components(next) {
			rest, verdict := judge(c, pledges, must)
			switch verdict {
			case isFair:
				fair = append(fair, c)
			case mayHoldFair:
				work = append(work, rest)
			case isUnfair:
			}
		}
	}
	return fair
}

type judgement int

const (
	isUnfair judgement = iota
	isFair
	mayHoldFair
)

// judge decides whether a run through all of a component for ever is fair. If it is not, but a part of it may be, judge returns that part.
func judge(c part, pledges []*pledge, must map[int]bool) (part, judgement) {
	if must != nil && !anyOf(c.nodes, must) {
		return part{}, isUnfair
	}
	noNodes, noSteps := map[int]bool{}, map[int]bool{}
	for _, p := range pledges {
		if anyOf(c.edges, p.taken) {
			continue
		}
		if p.level == Weak {
			if allOf(c.nodes, p.nodes) {
				return part{}, isUnfair
			}
			continue
		}
		mark(noNodes, c.nodes, p.nodes)
		mark(noSteps, c.edges, p.steps)
	}
	if len(noNodes) == 0 && len(noSteps) == 0 {
		return part{}, isFair
	}
	rest := part{nodes: without(c.nodes, noNodes), edges: without(c.edges, noSteps)}
	return rest, mayHoldFair
}

func anyOf(list []int, set map[int]bool) bool {
	for _, i := range list {
		if set[i] {
			return true
		}
	}
	return false
}

func allOf(list []int, set map[int]bool) bool {
	for _, i := range list {
		if !set[i] {
			return false
		}
	}
	return true
}

func mark(into map[int]bool, list []int, set map[int]bool) {
	for _, i := range list {
		if set[i] {
			into[i] = true
		}
	}
}

func without(list []int, set map[int]bool) []int {
	var out []int
	for _, i := range list {
		if !set[i] {
			out = append(out, i)
		}
	}
	return out
}
