package conform

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// The tests' machine is a till: closed, or open for one buyer, who is served or leaves.

type state interface {
	Name() string
	state()
}

type (
	closed struct{}
	open   struct {
		Buyer uint8
		Mood  mood
	}
	event interface {
		Name() string
		event()
	}
	come   struct{ Buyer uint8 }
	pay    struct{ Buyer uint8 }
	leave  struct{}
	effect interface {
		Name() string
		effect()
	}
	greet   struct{ Buyer uint8 }
	light   struct{ On bool }
	receipt struct{ Buyer uint8 }
	mood    uint8
)

func (closed) state()         {}
func (open) state()           {}
func (come) event()           {}
func (pay) event()            {}
func (leave) event()          {}
func (greet) effect()         {}
func (light) effect()         {}
func (receipt) effect()       {}
func (closed) Name() string   { return "Closed" }
func (open) Name() string     { return "Open" }
func (come) Name() string     { return "Come" }
func (pay) Name() string      { return "Pay" }
func (leave) Name() string    { return "Leave" }
func (greet) Name() string    { return "Greet" }
func (light) Name() string    { return "Light" }
func (receipt) Name() string  { return "Receipt" }
func (m mood) String() string { return []string{"none", "glad"}[m] }

type (
	table = machine.Table[state, event, effect]
	till  = Machine[state, event, effect, uint8]
)

func isBuyer(s open, e pay) bool { return s.Buyer == e.Buyer }

func tillTable(guard func(open, pay) bool) table {
	return machine.Join(
		[]machine.Row[state, event, effect]{
			machine.On[state, event]("Open", func(_ closed, e come) (open, []effect) {
				return open{e.Buyer, 1}, []effect{light{true}, greet(e)}
			}),
			machine.When[state, event]("Serve", "same buyer", guard, func(s open, _ pay) (closed, []effect) {
				return closed{}, []effect{receipt{s.Buyer}, light{}}
			}),
			machine.On[state, event]("Leave", func(open, leave) (closed, []effect) { return closed{}, []effect{light{}} }),
		},
		machine.Ignore[state, event, effect]("nobody is here", state(closed{}), event(pay{}), event(leave{})),
		machine.Ignore[state, event, effect]("one at a time", state(open{}), event(come{})),
		machine.Ignore[state, event, effect]("another's money", state(open{}), event(pay{})),
	)
}

// newTill is the till and how it is told to be its spec.
func newTill(t table) till {
	fields := Fields[state](closed{}, open{})
	return till{
		Spec: "till", Table: t, First: closed{},
		Events: func(_ state, newest uint8) []Labelled[event] {
			out := []Labelled[event]{{"Leave", leave{}}}
			if newest < 2 {
				out = append(out, Labelled[event]{"Come", come{newest + 1}})
			}
			for id := uint8(1); id <= 2; id++ {
				out = append(out, Labelled[event]{fmt.Sprintf("Pay buyer=%d", id), pay{id}})
			}
			return out
		},
		Grow: func(newest uint8, e event) uint8 {
			if c, is := e.(come); is {
				return c.Buyer
			}
			return newest
		},
		Vars: func(s state, newest uint8) map[string]string {
			out := fields(s)
			out["newest"] = JSON(newest)
			return out
		},
		Ghosts: []string{"ghost"},
	}
}

func node(name string, buyer, newest int, mood, fx string) graph.Node {
	return graph.Node{Vars: map[string]string{
		"state": JSON(name), "buyer": JSON(buyer), "newest": JSON(newest), "mood": JSON(mood), "fx": fx, "ghost": "7",
	}}
}

func edge(from, to int, action string, choices ...graph.Choice) graph.Edge {
	return graph.Edge{From: from, To: to, Action: action, Choices: choices}
}

// tillSpec is what the checker would find of the till's spec.
func tillSpec() *graph.Graph {
	by := func(id string) graph.Choice { return graph.Choice{Var: "buyer", Value: id} }
	return &graph.Graph{
		Init: []int{0},
		Nodes: []graph.Node{
			node("Closed", 0, 0, "", `[]`),
			node("Open", 1, 1, "glad", `["Light on", "Greet buyer=1"]`),
			node("Closed", 0, 1, "", `["Receipt buyer=1","Light"]`),
			node("Closed", 0, 1, "", `["Light"]`),
			node("Open", 2, 2, "glad", `["Light on","Greet buyer=2"]`),
			node("Closed", 0, 2, "", `["Receipt buyer=2","Light"]`),
			node("Closed", 0, 2, "", `["Light"]`),
		},
		Edges: []graph.Edge{
			edge(0, 1, "Come"), edge(1, 2, "Pay", by("1")), edge(1, 3, "Leave"), edge(2, 4, "Come"),
			edge(3, 4, "Come"), edge(4, 5, "Pay", by("2")), edge(4, 6, "Leave"),
		},
	}
}

func expectSame(t *testing.T, m till, g *graph.Graph) {
	t.Helper()
	expect := gomega.NewWithT(t)
	figures, err := m.Compare(g)
	expect.Expect(err).NotTo(gomega.HaveOccurred())
	expect.Expect(figures).To(gomega.Equal(Figures{States: 7, Edges: 7, Refused: 18}))
}

func TestCompare(t *testing.T) { expectSame(t, newTill(tillTable(isBuyer)), tillSpec()) }

// expectDifference wants one after that path, with all of these words in it.
func expectDifference(t *testing.T, err error, path []string, words ...string) {
	t.Helper()
	g := gomega.NewWithT(t)
	var d *Difference
	g.Expect(errors.As(err, &d)).To(gomega.BeTrue(), "%v", err)
	g.Expect(d.Path).To(gomega.Equal(path), d.Error())
	for _, w := range words {
		g.Expect(d.Error()).To(gomega.ContainSubstring(w))
	}
}

// Each bug is planted in a copy of the table; rows: 0 Open, 1 Serve, 2 Leave, then those that are ignored.
func TestPlantedBugs(t *testing.T) {
	right := tillTable(isBuyer)
	for _, c := range []struct {
		name  string
		table table
		path  []string
		words []string
	}{
		{
			"wrong target", right.Mutate(2, func(from, _ state, fx []effect) (state, []effect) { return from, fx }),
			[]string{"Come", "Leave"},
			[]string{"the next states differ", `spec: buyer=0 mood="" state="Closed"`, `code: buyer=1 mood="glad" state="Open"`},
		},
		{
			"wrong field of the target", right.Mutate(0, func(_, next state, fx []effect) (state, []effect) { return open{next.(open).Buyer, 0}, fx }),
			[]string{"Come"},
			[]string{`spec: mood="glad"`, `code: mood=""`},
		},
		{"missing row", right.Mutate(2, nil), []string{"Come", "Leave"}, []string{"the code ignores it: no row"}},
		{"missing ignored row", right.Mutate(3, nil), []string{"Pay buyer=1"}, []string{"the code has no row for it"}},
		{
			"row that is not in the spec",
			append(table{machine.On[state, event]("Curse", func(s open, _ come) (open, []effect) { return s, []effect{light{true}} })}, right...),
			[]string{"Come", "Come"},
			[]string{"the code takes this step, the spec does not", `code: buyer=1 mood="glad" newest=2 state="Open" fx=["Light on"]`},
		},
		{
			"extra effect", right.Mutate(2, func(_, next state, fx []effect) (state, []effect) { return next, append(fx, light{}) }),
			[]string{"Come", "Leave"},
			[]string{"the effects differ", `spec: ["Light"]`, `code: ["Light","Light"]`},
		},
		{
			"missing effect", right.Mutate(1, func(_, next state, fx []effect) (state, []effect) { return next, fx[:1] }),
			[]string{"Come", "Pay buyer=1"},
			[]string{"the effects differ", `code: ["Receipt buyer=1"]`},
		},
		{
			"swapped effects", right.Mutate(0, func(_, next state, fx []effect) (state, []effect) { return next, []effect{fx[1], fx[0]} }),
			[]string{"Come"},
			[]string{"the effects differ", `spec: ["Light on", "Greet buyer=1"]`, `code: ["Greet buyer=1","Light on"]`},
		},
		{
			"changed payload", right.Mutate(1, func(_, next state, fx []effect) (state, []effect) { return next, []effect{receipt{1}, fx[1]} }),
			[]string{"Come", "Pay buyer=1", "Come", "Pay buyer=2"},
			[]string{`spec: ["Receipt buyer=2","Light"]`, `code: ["Receipt buyer=1","Light"]`},
		},
		{
			"missing guard", tillTable(func(open, pay) bool { return true }),
			[]string{"Come", "Pay buyer=2"},
			[]string{"the code takes this step, the spec does not", "spec: nothing"},
		},
		{
			"negated guard", tillTable(func(s open, e pay) bool { return !isBuyer(s, e) }),
			[]string{"Come", "Pay buyer=1"},
			[]string{"the spec takes this step, the code ignores it: another's money"},
		},
		{
			"ignored row that acts", right.Mutate(3, func(_, next state, _ []effect) (state, []effect) { return next, []effect{light{}} }),
			[]string{"Pay buyer=1"},
			[]string{"the code says that it ignores this, and acts"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newTill(c.table).Compare(tillSpec())
			expectDifference(t, err, c.path, c.words...)
		})
	}
	expectSame(t, newTill(right), tillSpec())
}

func TestSpecThatDiffers(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*graph.Graph)
		path  []string
		word  string
	}{
		{"step that the code ignores", func(g *graph.Graph) { g.Edges = append(g.Edges, edge(0, 0, "Leave")) }, []string{"Leave"}, "nobody is here"},
		{"step less", func(g *graph.Graph) { g.Edges = append(g.Edges[:2:2], g.Edges[3:]...) }, []string{"Come", "Leave"}, "the code takes this step"},
		{"step of an unknown name", func(g *graph.Graph) { g.Edges = append(g.Edges, edge(1, 1, "Steal")) }, []string{"Come", "Steal"}, "no event for"},
		{"step with two ends", func(g *graph.Graph) { g.Edges = append(g.Edges, edge(0, 4, "Come")) }, []string{"Come"}, "next states differ"},
		{"action that is gone", func(g *graph.Graph) { g.Edges = g.Edges[:1] }, []string{"Leave"}, "never takes an action of this name"},
		{"state that is never met", func(g *graph.Graph) { g.Nodes = append(g.Nodes, node("Closed", 0, 9, "", `[]`)) }, nil, "newest=9"},
		{"another beginning", func(g *graph.Graph) { g.Init = []int{2} }, nil, "the spec begins where the code does not"},
		{"no beginning", func(g *graph.Graph) { g.Init = nil }, nil, "no states to compare"},
		{"variable that is gone", func(g *graph.Graph) { delete(g.Nodes[1].Vars, "mood") }, []string{"Come"}, "spec: mood=no such variable"},
		{"effects that are gone", func(g *graph.Graph) { delete(g.Nodes[1].Vars, "fx") }, []string{"Come"}, "no such variable"},
		{"nothing", func(g *graph.Graph) { *g = graph.Graph{} }, nil, "no states to compare"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := tillSpec()
			c.spoil(g)
			_, err := newTill(tillTable(isBuyer)).Compare(g)
			expectDifference(t, err, c.path, c.word)
		})
	}
	t.Run("no graph at all", func(t *testing.T) {
		_, err := newTill(tillTable(isBuyer)).Compare(nil)
		expectDifference(t, err, nil, "no states to compare")
	})
}

func TestAdapterThatIsWrong(t *testing.T) {
	t.Run("a label twice", func(t *testing.T) {
		m := newTill(tillTable(isBuyer))
		m.Events = func(state, uint8) []Labelled[event] { return []Labelled[event]{{"Come", come{1}}, {"Come", come{2}}} }
		_, err := m.Compare(tillSpec())
		expectDifference(t, err, []string{"Come"}, "two events of this label")
	})
	t.Run("an event that is never offered", func(t *testing.T) {
		m := newTill(tillTable(isBuyer))
		all := m.Events
		m.Events = func(s state, newest uint8) []Labelled[event] {
			var out []Labelled[event]
			for _, l := range all(s, newest) {
				if o, is := s.(open); !is || l.Event == (pay{o.Buyer}) || l.Event == (leave{}) {
					out = append(out, l)
				}
			}
			return out
		}
		_, err := m.Compare(tillSpec())
		expectDifference(t, err, nil, "this row of the table was never met: Open + Come, one at a time")
	})
	t.Run("a variable that is not compared", func(t *testing.T) {
		m := newTill(tillTable(isBuyer))
		m.Ghosts = nil
		_, err := m.Compare(tillSpec())
		expectDifference(t, err, nil, "the variable ghost of the spec is not compared")
	})
	t.Run("a ghost that is compared", func(t *testing.T) {
		m := newTill(tillTable(isBuyer))
		m.Ghosts = append(m.Ghosts, "mood")
		_, err := m.Compare(tillSpec())
		expectDifference(t, err, nil, "mood is named in Ghosts, but is compared")
	})
	t.Run("a ghost that there is not", func(t *testing.T) {
		m := newTill(tillTable(isBuyer))
		m.Ghosts = append(m.Ghosts, "spirit")
		_, err := m.Compare(tillSpec())
		expectDifference(t, err, nil, "spirit is named in Ghosts, but is compared or is no variable")
	})
	t.Run("a domain without a bound", func(t *testing.T) {
		loop := &graph.Graph{Init: []int{0}, Nodes: []graph.Node{{Vars: map[string]string{"fx": "[]"}}}, Edges: []graph.Edge{edge(0, 0, "Tick")}}
		s := System[uint64, int, effect, int]{
			Spec: "loop", Starts: []Start[uint64, int]{{}},
			Step:   func(n uint64, _ int) (uint64, []effect, string) { return n + 1, nil, "" },
			Events: func(uint64, int) []Labelled[int] { return []Labelled[int]{{"Tick", 1}} },
			Vars:   func(uint64, int) map[string]string { return nil },
		}
		_, err := s.Compare(loop)
		expectDifference(t, err, nil, "more than 100000 pairs")
	})
}

// Two tills side by side: a composition is compared by the same walk.
func TestComposition(t *testing.T) {
	type both struct{ A, B bool }
	s := System[both, string, effect, struct{}]{
		Spec: "both", Starts: []Start[both, struct{}]{{}, {State: both{B: true}}},
		Step: func(s both, e string) (both, []effect, string) {
			switch {
			case e == "A" && !s.A:
				s.A = true
			case e == "B" && !s.B:
				s.B = true
			default:
				return s, nil, "it is on"
			}
			return s, []effect{light{true}}, ""
		},
		Events: func(both, struct{}) []Labelled[string] { return []Labelled[string]{{"A on=true", "A"}, {"B", "B"}} },
		Vars: func(s both, _ struct{}) map[string]string {
			return map[string]string{"a": JSON(s.A), "b": JSON(s.B)}
		},
	}
	of := func(a, b bool, fx ...string) graph.Node {
		return graph.Node{Vars: map[string]string{"a": JSON(a), "b": JSON(b), "fx": JSON(append([]string{}, fx...))}}
	}
	on := graph.Choice{Var: "on", Value: "True"} // as the checker writes it
	spec := &graph.Graph{
		Init: []int{0, 1},
		Nodes: []graph.Node{
			of(false, false), of(false, true), of(true, false, "Light on"), of(false, true, "Light on"), of(true, true, "Light on"),
		},
		Edges: []graph.Edge{edge(0, 2, "A", on), edge(0, 3, "B"), edge(1, 4, "A", on), edge(2, 4, "B"), edge(3, 4, "A", on)},
	}
	g := gomega.NewWithT(t)
	figures, err := s.Compare(spec)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(figures).To(gomega.Equal(Figures{States: 5, Edges: 5, Refused: 5}))

	spec.Init = spec.Init[:1]
	_, err = s.Compare(spec)
	expectDifference(t, err, nil, "the code begins where the spec does not: a=false b=true")
}

func TestValues(t *testing.T) {
	g := gomega.NewWithT(t)
	fields := Fields[state](closed{}, open{})
	g.Expect(maps.Clone(fields(closed{}))).To(gomega.Equal(map[string]string{"state": `"Closed"`, "buyer": "0", "mood": `""`}))
	g.Expect(fields(open{3, 1})).To(gomega.Equal(map[string]string{"state": `"Open"`, "buyer": "3", "mood": `"glad"`}))
	c := canon{}
	g.Expect(c.text(`["a",  "b"]`)).To(gomega.Equal(`["a","b"]`))
	g.Expect(c.text(`{"b":1, "a":2}`)).To(gomega.Equal(c.text(`{"a":2,"b":1}`)))
	g.Expect(c.text(`1 2`)).To(gomega.Equal(`1 2`), "what is no JSON stays as it is")
}
