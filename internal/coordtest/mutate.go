package coordtest

// Mutants of a table: each has one fault. The tests check that an invariant or the explored graph shows the fault.

import (
	"errors"
	"fmt"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// mutant is a table with one fault.
type mutant[S, E, F Value] struct {
	name  string
	table machine.Table[S, E, F]
}

// mutation is one fault in a row's result.
type mutation[S, F Value] struct {
	what   string
	change func(from, next S, effects []F) (S, []F) // nil: the row is deleted
}

// mutants returns a table for every fault of one place: a row deleted, its guard negated, its state unchanged, an effect dropped,
// doubled or swapped with the one before it, a value changed or left out; and for the subject's own faults.
func (sub Subject[S, E, F, G]) mutants(g Graph[S, E, F]) []mutant[S, E, F] {
	var out []mutant[S, E, F]
	for i, row := range sub.Table {
		name := row.From + " + " + row.Event + ", " + row.Action + row.Why + ": "
		if row.Guard != "" {
			out = append(out, mutant[S, E, F]{name + "guard negated", sub.Table.Negate(i)})
		}
		for _, m := range sub.mutations(i, g) {
			out = append(out, mutant[S, E, F]{name + m.what, sub.Table.Mutate(i, m.change)})
		}
	}
	for _, fault := range sub.Faults {
		i := slices.IndexFunc(sub.Table, func(r machine.Row[S, E, F]) bool {
			return r.From == fault.From && r.Event == fault.Event && r.Action == fault.Action
		})
		if i < 0 {
			panic("no such row: " + fault.From + " + " + fault.Event + ", " + fault.Action)
		}
		out = append(out, mutant[S, E, F]{
			fault.From + " + " + fault.Event + ", " + fault.Action + ": " + fault.Name,
			sub.Table.Mutate(i, fault.Change),
		})
	}
	return out
}

func (sub Subject[S, E, F, G]) mutations(i int, g Graph[S, E, F]) []mutation[S, F] {
	out := []mutation[S, F]{{"row deleted", nil}}
	add := func(what string, change func(from, next S, effects []F) (S, []F)) {
		out = append(out, mutation[S, F]{what, change})
	}
	moves, effects := false, 0
	for _, e := range g.Edges {
		if e.Row == i {
			moves, effects = moves || e.From != e.To, max(effects, len(e.Effects))
		}
	}
	if moves {
		add("next state held back", func(from, _ S, f []F) (S, []F) { return from, f })
	}
	for k := range effects {
		nth := fmt.Sprintf("effect %d ", k+1)
		add(nth+"dropped", onEffect[S](k, func(f []F) []F { return slices.Delete(f, k, k+1) }))
		add(nth+"doubled", onEffect[S](k, func(f []F) []F { return slices.Insert(f, k, f[k]) }))
		if k > 0 {
			add(nth+"swapped with the one before it", onEffect[S](k, func(f []F) []F {
				f[k-1], f[k] = f[k], f[k-1]
				return f
			}))
		}
	}
	return append(out, sub.payloads(i, g)...)
}

// onEffect returns a change of a row's effects, if there are more than k of them.
func onEffect[S, F any](k int, change func([]F) []F) func(from, next S, effects []F) (S, []F) {
	return func(_, next S, f []F) (S, []F) {
		if k < len(f) {
			f = change(f)
		}
		return next, f
	}
}

// verdict says what notices a mutant.
type verdict struct {
	shape  bool     // Check
	broken []string // the invariants that fail, in the monitor's order
	graph  bool     // the explored graph differs, or the exploration fails
}

func (v verdict) survives() bool { return !v.shape && len(v.broken) == 0 && !v.graph }

// room is how many times more states than the machine a mutant may have. One with more has another graph.
const room = 3

// judge explores a mutant completely and returns what notices it.
func (sub Subject[S, E, F, G]) judge(
	m mutant[S, E, F], nodes int, want map[pair[S, E]]machine.Edge[S, E, F],
) verdict {
	broken := make([]bool, len(sub.Monitor.Invariants))
	g, err := sub.explore(m.table, room*nodes, func(before G, step machine.Edge[S, E, F]) (G, string) {
		after := sub.Monitor.See(before, step)
		for i, inv := range sub.Monitor.Invariants {
			broken[i] = broken[i] || !inv.Holds(before, after, step)
		}
		return after, ""
	})
	v := verdict{
		shape: len(m.table.Check(sub.States, sub.Events)) > 0,
		graph: err != nil || !same(g.steps(), want),
	}
	for i, b := range broken {
		if b {
			v.broken = append(v.broken, sub.Monitor.Invariants[i].Name)
		}
	}
	return v
}

// shortest returns the shortest way to a step that breaks the named invariant.
func (sub Subject[S, E, F, G]) shortest(m mutant[S, E, F], invariant string) string {
	alone := machine.Monitor[S, E, F, G]{See: sub.Monitor.See}
	for _, inv := range sub.Monitor.Invariants {
		if inv.Name == invariant {
			alone.Invariants = append(alone.Invariants, inv)
		}
	}
	_, err := sub.explore(m.table, maxNodes, alone.Watch)
	var broken *machine.Broken[E]
	if !errors.As(err, &broken) {
		return "not broken"
	}
	var path string
	for i, e := range broken.Path {
		if i > 0 {
			path += ", "
		}
		path += Text(e)
	}
	return path
}
