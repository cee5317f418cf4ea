package coordtest

import (
	"reflect"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// The tests' machine counts to two.

type state interface {
	Name() string
	state()
}

type (
	zero  struct{}
	some  struct{ N uint8 }
	event interface {
		Name() string
		event()
	}
	up     struct{ By uint8 }
	down   struct{ ForGood bool }
	effect interface{ Name() string }
	say    struct{ N uint8 }
)

func (zero) state()       {}
func (some) state()       {}
func (up) event()         {}
func (down) event()       {}
func (zero) Name() string { return "Zero" }
func (some) Name() string { return "Some" }
func (up) Name() string   { return "Up" }
func (down) Name() string { return "Down" }
func (say) Name() string  { return "Say" }

type seen struct{ Last uint8 }

func counter() Subject[state, event, effect, seen] {
	type edge = machine.Edge[state, event, effect]
	return Subject[state, event, effect, seen]{
		Table: machine.Join(
			[]machine.Row[state, event, effect]{
				machine.On[state, event]("Begin", func(_ zero, e up) (some, []effect) { return some{e.By}, []effect{say{e.By}} }),
				machine.When[state, event]("Add", "small", func(s some, _ up) bool { return s.N < 2 },
					func(s some, e up) (some, []effect) { return some{s.N + e.By}, []effect{say{s.N + e.By}} }),
				machine.On[state, event]("Clear", func(some, down) (zero, []effect) { return zero{}, []effect{say{}} }),
			},
			machine.Ignore[state, event, effect]("it is nothing", state(zero{}), event(down{})),
			machine.Ignore[state, event, effect]("it is enough", state(some{}), event(up{})),
		),
		First: zero{}, States: []state{zero{}, some{}}, Events: []event{up{}, down{}},
		Monitor: machine.Monitor[state, event, effect, seen]{
			See: func(g seen, e edge) seen {
				for _, f := range e.Effects {
					g.Last = f.(say).N
				}
				return g
			},
			Invariants: []machine.Invariant[state, event, effect, seen]{
				{Name: "SaysWhatItIs", Holds: func(_, after seen, e edge) bool {
					s, _ := e.To.(some)
					return s.N == after.Last
				}},
			},
		},
		May:    func(state, seen) []event { return []event{up{1}, down{}, down{true}} },
		Limits: "by one",
	}
}

func TestReport(t *testing.T) {
	g := gomega.NewWithT(t)
	sub := counter()
	graph, err := sub.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(sub.missed(graph)).To(gomega.BeEmpty())
	found := sub.tally(graph)
	report, missing := sub.report(graph, found)
	g.Expect(missing).To(gomega.BeEmpty())
	g.Expect(report).To(gomega.ContainSubstring("5 rows, 9 transitions, 3 states with what the monitor saw, 9 edges; by one"))
	g.Expect(report).To(gomega.ContainSubstring("20 mutants: 11 seen by an invariant, 4 by the shape alone, 5 by the graph alone"))
	g.Expect(report).To(gomega.ContainSubstring("    Zero + Up, Begin: next state held back\n    after: Up by=1\n"))
	g.Expect(report).To(gomega.ContainSubstring("seen by the graph alone\n    Zero + Up, Begin: effect 1 doubled\n"))

	t.Run("an invariant that catches nothing is reported", func(t *testing.T) {
		sub.Monitor.Invariants = append(sub.Monitor.Invariants, machine.Invariant[state, event, effect, seen]{
			Name: "Vacuous", Holds: func(_, _ seen, _ machine.Edge[state, event, effect]) bool { return true },
		})
		_, missing := sub.report(graph, sub.tally(graph))
		gomega.NewWithT(t).Expect(missing).To(gomega.Equal([]string{"invariant that catches nothing: Vacuous"}))
	})
	t.Run("a mutant that nothing sees is reported", func(t *testing.T) {
		sub := counter()
		sub.Faults = []Fault[state, event, effect]{{
			Name: "the same", From: "Zero", Event: "Up", Action: "Begin",
			Change: func(_, next state, f []effect) (state, []effect) { return next, f },
		}}
		_, missing := sub.report(graph, sub.tally(graph))
		gomega.NewWithT(t).Expect(missing).To(gomega.Equal([]string{"survivor: Zero + Up, Begin: the same"}))
	})
	t.Run("a row and a state that no walk meets are reported", func(t *testing.T) {
		sub := counter()
		sub.May = func(state, seen) []event { return []event{down{}} }
		graph, err := sub.Explore()
		g := gomega.NewWithT(t)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(sub.missed(graph)).To(gomega.Equal([]string{
			"row never taken: Zero + Up, Begin []", "row never taken: Some + Up, Add [small]",
			"row never taken: Some + Down, Clear []", "row never taken: Some + Up, it is enough []",
			"state never reached: Some",
		}))
	})
}

type (
	spot  struct{ Item, MS uint32 }
	ended struct {
		At   spot
		Gone bool
		By   string
		Days int8
	}
)

func (ended) Name() string { return "Ended" }

func TestPayload(t *testing.T) {
	g := gomega.NewWithT(t)
	of := reflect.TypeFor[ended]()
	var names []string
	var got []ended
	for _, f := range fieldsOf(of) {
		names = append(names, f.name)
		for _, by := range edits {
			got = append(got, edited(ended{spot{1, 2}, true, "us", -1}, f, by))
		}
	}
	g.Expect(names).To(gomega.Equal([]string{"at.item", "at.ms", "gone", "by", "days"}))
	g.Expect(got).To(gomega.Equal([]ended{
		{spot{2, 2}, true, "us", -1},
		{spot{0, 2}, true, "us", -1},
		{spot{1, 3}, true, "us", -1},
		{spot{1, 0}, true, "us", -1},
		{spot{1, 2}, false, "us", -1},
		{spot{1, 2}, false, "us", -1},
		{spot{1, 2}, true, "us'", -1},
		{spot{1, 2}, true, "", -1},
		{spot{1, 2}, true, "us", 0},
		{spot{1, 2}, true, "us", 0},
	}))
	g.Expect(func() { edits[0].apply(reflect.ValueOf(&[]int{}).Elem()) }).To(gomega.PanicWith(gomega.ContainSubstring("[]int")))
}

func TestFingerprint(t *testing.T) {
	g := gomega.NewWithT(t)
	sub := counter()
	first, err := sub.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())

	sub.Table = machine.Join(sub.Table[3:], sub.Table[:3])
	reordered, err := sub.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(reordered.Fingerprint()).NotTo(gomega.Equal(first.Fingerprint()), "what is ignored now hides what adds")

	sub = counter()
	sub.Table = machine.Join(sub.Table[2:4], sub.Table[:2], sub.Table[4:])
	reordered, err = sub.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(reordered.Fingerprint()).To(gomega.Equal(first.Fingerprint()), "the order of rows of different pairs does not count")
}

func TestRace(t *testing.T) {
	Race(t, counter())

	g := gomega.NewWithT(t)
	graph, err := counter().Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, c := range []struct {
		change func(from, next state, f []effect) (state, []effect)
		want   string
	}{
		{func(from, _ state, f []effect) (state, []effect) { return from, f }, "SaysWhatItIs does not hold: Begin: Zero -> Zero"},
		{func(_, next state, f []effect) (state, []effect) { return next, append(f, f...) }, "not a step of the explored machine: Begin"},
	} {
		sub := counter()
		sub.Table = sub.Table.Mutate(0, c.change)
		_, broken := sub.hammer(graph.steps())
		g.Expect(broken).To(gomega.HavePrefix(c.want))
	}
}

func TestLeads(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := counter().Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	isSome := func(s state) bool { _, is := s.(some); return is }
	isZero := func(_, next state) bool { return next == zero{} }
	downs := func(_ state, e event) bool { return e == down{} }
	ups := func(_ state, e event) bool { return e == up{1} }
	g.Expect(Leads(graph, isSome, downs, isZero)).To(gomega.BeEmpty())
	g.Expect(Leads(graph, isSome, ups, isZero)).To(gomega.Equal([]string{"Some n=1", "Some n=2"}))
}
