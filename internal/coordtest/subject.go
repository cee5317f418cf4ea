package coordtest

// Subject: what a machine's test says about its machine: the table, the first state, the events and the invariants.

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Value is a state, an event or an effect: it has a name and is comparable.
type Value interface {
	comparable
	machine.Named
}

// Subject describes one machine for its tests.
type Subject[S, E, F Value, G comparable] struct {
	Table  machine.Table[S, E, F]
	First  S
	States []S // one of each type
	Events []E // one of each type

	Monitor machine.Monitor[S, E, F, G]
	Seen    G // what the monitor remembers at the beginning

	// May returns every event that may come next, also late and stale ones, with identifiers from a finite set. Limits says its
	// bounds in words.
	May    func(S, G) []E
	Limits string

	// Faults are further faults of the table, for invariants about the fields of an effect.
	Faults []Fault[S, E, F]
}

// Fault is one fault in the row with this state, event and action.
type Fault[S, E, F Value] struct {
	Name                string
	From, Event, Action string
	Change              func(from, next S, effects []F) (S, []F)
}

// maxNodes limits an exploration. If a machine needs more, its set of identifiers is too large.
const maxNodes = 5_000

// Graph is an explored machine.
type Graph[S, E, F Value] struct {
	Edges []machine.Edge[S, E, F]
	Nodes int // states, together with what the monitor remembers
}

// Explore explores the whole machine with the subject's monitor.
func (sub Subject[S, E, F, G]) Explore() (Graph[S, E, F], error) {
	return sub.explore(sub.Table, maxNodes, sub.Monitor.Watch)
}

func (sub Subject[S, E, F, G]) explore(
	table machine.Table[S, E, F], limit int, watch func(G, machine.Edge[S, E, F]) (G, string),
) (Graph[S, E, F], error) {
	var g Graph[S, E, F]
	var err error
	g.Edges, err = machine.Explore(table, sub.First, sub.Seen, limit, func(s S, seen G) []E {
		g.Nodes++
		return sub.May(s, seen)
	}, watch)
	return g, err
}

type pair[S, E Value] struct {
	from S
	by   E
}

// steps is the graph without the monitor: one edge for each state and event.
func (g Graph[S, E, F]) steps() map[pair[S, E]]machine.Edge[S, E, F] {
	out := make(map[pair[S, E]]machine.Edge[S, E, F], len(g.Edges))
	for _, e := range g.Edges {
		out[pair[S, E]{e.From, e.Event}] = e
	}
	return out
}

// same says whether two graphs have the same steps.
func same[S, E, F Value](a, b map[pair[S, E]]machine.Edge[S, E, F]) bool {
	if len(a) != len(b) {
		return false
	}
	for at, x := range a {
		y, ok := b[at]
		if !ok || x.To != y.To || !slices.Equal(x.Effects, y.Effects) {
			return false
		}
	}
	return true
}

// Fingerprint hashes the steps of the graph: two machines with the same one, on
// the same domain, do the same. Neither the order of the rows nor the monitor counts.
func (g Graph[S, E, F]) Fingerprint() uint64 {
	var lines []string
	for _, e := range g.steps() {
		line := Text(e.From) + "|" + Text(e.Event) + "|" + Text(e.To)
		for _, f := range e.Effects {
			line += "|" + Text(f)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	h := fnv.New64a()
	for _, line := range lines {
		_, _ = fmt.Fprintln(h, line)
	}
	return h.Sum64()
}

// Leads returns the states of the graph for which from holds and from which no
// state for which to holds is reached by events for which by holds, in words.
// It is how the tests state liveness: whatever happened, what must come can come.
func Leads[S, E, F Value](g Graph[S, E, F], from func(S) bool, by func(S, E) bool, to func(s, next S) bool) []string {
	next := map[S][]S{}
	for _, e := range g.steps() {
		if by(e.From, e.Event) {
			next[e.From] = append(next[e.From], e.To)
		}
	}
	var stuck []string
	for s := range states(g) {
		if from(s) && !reaches(s, next, to) {
			stuck = append(stuck, Text(s))
		}
	}
	slices.SortFunc(stuck, cmp.Compare)
	return stuck
}

func states[S, E, F Value](g Graph[S, E, F]) map[S]bool {
	out := map[S]bool{}
	for _, e := range g.Edges {
		out[e.From], out[e.To] = true, true
	}
	return out
}

func reaches[S Value](s S, next map[S][]S, to func(s, next S) bool) bool {
	been := map[S]bool{s: true}
	queue := []S{s}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, n := range next[at] {
			if to(s, n) {
				return true
			}
			if !been[n] {
				been[n] = true
				queue = append(queue, n)
			}
		}
	}
	return false
}
