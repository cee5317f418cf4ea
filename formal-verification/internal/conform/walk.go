package conform

// The comparison: walks through the specification's graph and the code at the same time, and stops at the first difference.

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// Variables that every spec may have: the effects of the last action, and the assertions that it broke.
const (
	effectsVar = "fx"
	wrongVar   = "bad"
)

// maxPairs limits the comparison. If spec and code agree, there are about as many pairs of node and state as nodes.
const maxPairs = 100_000

// flags converts the bools of a label from Python's spelling, which the checker uses, to Go's.
var flags = strings.NewReplacer("=True", "=true", "=False", "=false")

// place is a node of the spec together with the state and the domain of the code.
type place[S comparable, D comparable] struct {
	node   int
	state  S
	domain D
}

// Difference is the first difference between spec and code: the labels of the shortest way to it, and what each of them does there.
type Difference struct {
	Path []string
	What string
}

func (d *Difference) Error() string {
	if len(d.Path) == 0 {
		return d.What
	}
	return "after " + strings.Join(d.Path, ", ") + ": " + d.What
}

// arrival says from which place and by which label a place was first reached.
type arrival[S comparable, D comparable] struct {
	from  place[S, D]
	label string
}

// walk is one comparison. came has every place that was reached, and queue those that are still to be visited.
type walk[S comparable, E any, F machine.Named, D comparable] struct {
	System[S, E, F, D]
	g       *graph.Graph
	out     [][]graph.Edge // by node
	actions map[string]bool
	same    canon

	came    map[place[S, D]]arrival[S, D]
	queue   []place[S, D]
	met     []bool // nodes
	figures Figures
}

func newWalk[S comparable, E any, F machine.Named, D comparable](s System[S, E, F, D], g *graph.Graph) *walk[S, E, F, D] {
	if s.Grow == nil {
		s.Grow = func(d D, _ E) D { return d }
	}
	if s.EventsAt == nil {
		events := s.Events
		s.EventsAt = func(s S, d D, _ spot) []Labelled[E] { return events(s, d) }
	}
	return &walk[S, E, F, D]{
		System: s, g: g, actions: map[string]bool{}, same: canon{}, came: map[place[S, D]]arrival[S, D]{},
	}
}

func (w *walk[S, E, F, D]) run() error {
	if w.g == nil || len(w.g.Nodes) == 0 || len(w.g.Init) == 0 {
		return &Difference{What: "the spec has no states to compare"}
	}
	w.out = make([][]graph.Edge, len(w.g.Nodes))
	w.met = make([]bool, len(w.g.Nodes))
	for _, e := range w.g.Edges {
		w.out[e.From] = append(w.out[e.From], e)
		w.actions[e.Action] = true
	}
	if err := w.begin(); err != nil {
		return err
	}
	if err := w.uncompared(); err != nil {
		return err
	}
	for len(w.queue) > 0 {
		at := w.queue[0]
		w.queue = w.queue[1:]
		if err := w.visit(at); err != nil {
			return err
		}
	}
	for i, met := range w.met {
		if !met {
			return &Difference{What: "the code never meets this state of the spec: " + vars(w.g.Nodes[i].Vars)}
		}
	}
	return nil
}

// begin finds, for each first state of the spec, the start of the code with the same variables.
func (w *walk[S, E, F, D]) begin() error {
	used := make([]bool, len(w.Starts))
	for _, node := range w.g.Init {
		fits := slices.IndexFunc(w.Starts, func(s Start[S, D]) bool {
			return w.unlike(node, s.State, s.Domain) == "" && w.otherEffects(node, nil) == ""
		})
		if fits < 0 {
			return &Difference{What: "the spec begins where the code does not: " + vars(w.g.Nodes[node].Vars)}
		}
		used[fits] = true
		w.arrive(place[S, D]{node, w.Starts[fits].State, w.Starts[fits].Domain}, arrival[S, D]{})
	}
	for i, s := range w.Starts {
		if !used[i] {
			return &Difference{What: "the code begins where the spec does not: " + vars(w.Vars(s.State, s.Domain))}
		}
	}
	return nil
}

// uncompared returns an error if a variable is not compared and is no ghost, or if a ghost does not exist.
func (w *walk[S, E, F, D]) uncompared() error {
	compared := w.Vars(w.Starts[0].State, w.Starts[0].Domain)
	spec := w.g.Nodes[w.g.Init[0]].Vars
	for _, name := range slices.Sorted(maps.Keys(spec)) {
		_, is := compared[name]
		if !is && name != effectsVar && name != wrongVar && !slices.Contains(w.Ghosts, name) {
			return &Difference{What: "the variable " + name + " of the spec is not compared: give its value in Vars, or name it in Ghosts"}
		}
	}
	for _, name := range w.Ghosts {
		_, is := compared[name]
		if _, there := spec[name]; is || !there {
			return &Difference{What: name + " is named in Ghosts, but is compared or is no variable of the spec"}
		}
	}
	return nil
}

func (w *walk[S, E, F, D]) arrive(at place[S, D], by arrival[S, D]) {
	if _, known := w.came[at]; known {
		return
	}
	w.came[at] = by
	w.met[at.node] = true
	w.queue = append(w.queue, at)
	w.figures.States++
}

// path returns the labels from the first state to at, and then last.
func (w *walk[S, E, F, D]) path(at place[S, D], last string) []string {
	back := []string{last}
	for {
		by := w.came[at]
		if by.label == "" {
			slices.Reverse(back)
			return back
		}
		back = append(back, by.label)
		at = by.from
	}
}

func (w *walk[S, E, F, D]) visit(at place[S, D]) error {
	if w.figures.States > maxPairs {
		return &Difference{What: fmt.Sprintf("more than %d pairs of a spec's state and one of the code: is there a field that no variable has?", maxPairs)}
	}
	events := map[string]E{}
	offered := w.EventsAt(at.state, at.domain, spot{w.g.Nodes[at.node], at.node, w.out[at.node]})
	for _, l := range offered {
		if _, twice := events[flags.Replace(l.Label)]; twice {
			return &Difference{w.path(at, l.Label), "the adapter has two events of this label"}
		}
		events[flags.Replace(l.Label)] = l.Event
	}
	taken := map[string]bool{}
	for _, edge := range w.out[at.node] {
		label := edge.Label()
		e, known := events[flags.Replace(label)]
		if !known {
			return &Difference{w.path(at, label), "the spec takes a step that the adapter has no event for"}
		}
		taken[flags.Replace(label)] = true
		if err := w.both(at, edge, e); err != nil {
			return err
		}
	}
	for _, l := range offered {
		if !taken[flags.Replace(l.Label)] {
			if err := w.refused(at, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// both compares a step of the spec with the same step of the code.
func (w *walk[S, E, F, D]) both(at place[S, D], edge graph.Edge, e E) error {
	label := edge.Label()
	next, effects, why := w.Step(at.state, e)
	if why != "" && why != elsewhere {
		return &Difference{w.path(at, label), "the spec takes this step, the code ignores it: " + why}
	}
	domain := w.Grow(at.domain, e)
	if what := w.unlike(edge.To, next, domain); what != "" {
		return &Difference{w.path(at, label), "the next states differ:" + what}
	}
	if what := w.otherEffects(edge.To, effects); what != "" {
		return &Difference{w.path(at, label), "the effects differ:" + what}
	}
	if why != elsewhere {
		w.figures.Edges++
	}
	w.arrive(place[S, D]{edge.To, next, domain}, arrival[S, D]{at, label})
	return nil
}

// refused checks an event for which the spec has no step: the code must ignore it.
func (w *walk[S, E, F, D]) refused(at place[S, D], l Labelled[E]) error {
	if action, _, _ := strings.Cut(l.Label, " "); !w.actions[action] {
		return &Difference{w.path(at, l.Label), "the spec never takes an action of this name"}
	}
	next, effects, why := w.Step(at.state, l.Event)
	switch {
	case why == NoRow:
		return &Difference{w.path(at, l.Label), "the code has no row for it, not even one that ignores it"}
	case why == "" && w.Hidden && len(effects) == 0 && w.unlike(at.node, next, at.domain) == "":
		w.arrive(place[S, D]{at.node, next, at.domain}, arrival[S, D]{at, l.Label})
	case why == "":
		return &Difference{w.path(at, l.Label), "the code takes this step, the spec does not:" +
			sides("nothing", vars(w.Vars(next, w.Grow(at.domain, l.Event)))+" fx="+texts(effects))}
	case next != at.state || len(effects) > 0:
		return &Difference{w.path(at, l.Label), "the code says that it ignores this, and acts: " +
			vars(w.Vars(next, at.domain)) + " fx=" + texts(effects)}
	}
	w.figures.Refused++
	return nil
}

// unlike returns which variables of the node differ from the state of the code, or "".
func (w *walk[S, E, F, D]) unlike(node int, s S, d D) string {
	want := w.Vars(s, d)
	spec, code := map[string]string{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		has, known := w.g.Nodes[node].Vars[name]
		if !known {
			has = "no such variable"
		}
		if w.same.text(has) != w.same.text(want[name]) {
			spec[name], code[name] = has, want[name]
		}
	}
	if len(spec) == 0 {
		return ""
	}
	return sides(vars(spec), vars(code))
}

// otherEffects returns how the effects of the step to the node differ from those of the code, or "".
func (w *walk[S, E, F, D]) otherEffects(node int, effects []F) string {
	if w.WithoutEffects {
		return ""
	}
	spec, known := w.g.Nodes[node].Vars[effectsVar]
	if !known {
		spec = "no such variable"
	}
	if code := texts(effects); w.same.text(spec) != w.same.text(code) {
		return sides(spec, code)
	}
	return ""
}

func texts[F machine.Named](effects []F) string {
	out := make([]string, len(effects))
	for i, f := range effects {
		if own, is := any(f).(interface{ Text() string }); is {
			out[i] = own.Text()
		} else {
			out[i] = coordtest.Text(f)
		}
	}
	return JSON(out)
}

func sides(spec, code string) string { return "\n  spec: " + spec + "\n  code: " + code }

// vars returns the variables as text, in the order of their names.
func vars(v map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		parts = append(parts, name+"="+v[name])
	}
	return strings.Join(parts, " ")
}
