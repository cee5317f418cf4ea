package machine_test

import (
	"errors"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

type (
	edge = machine.Edge[state, event, effect]
	seen struct{ Bangs, Locks int }
)

// monitor counts what the door's state does not know.
var monitor = machine.Monitor[state, event, effect, seen]{
	See: func(g seen, e edge) seen {
		for _, f := range e.Effects {
			switch f {
			case "bang":
				g.Bangs++
			case "click":
				g.Locks++
			case "clack":
				g.Locks--
			}
		}
		return g
	},
	Invariants: []machine.Invariant[state, event, effect, seen]{
		{Name: "LockedIsLocked", Holds: func(_, after seen, e edge) bool {
			_, is := e.To.(locked)
			return is == (after.Locks == 1)
		}},
		{Name: "AtMostTwoBangs", Holds: func(_, after seen, _ edge) bool { return after.Bangs <= 2 }},
	},
}

// gently offers everything, until the door was banged twice.
func gently(_ state, g seen) []event {
	if g.Bangs == 2 {
		return []event{pull{}, turned{1}, turned{2}}
	}
	return []event{push{}, pull{}, turned{1}, turned{2}}
}

func always(state, seen) []event { return []event{turned{1}, push{}, pull{}} }

func TestExplore(t *testing.T) {
	t.Run("it walks every state and takes every row", func(t *testing.T) {
		g := gomega.NewWithT(t)
		edges, err := machine.Explore(door(), state(closed{}), seen{}, 100, gently, monitor.Watch)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		taken := map[int]bool{}
		for _, e := range edges {
			taken[e.Row] = true
		}
		g.Expect(taken).To(gomega.HaveLen(len(door())))
	})
	for _, c := range []struct {
		name  string
		table table
		limit int
		want  *machine.Broken[event]
	}{
		{
			"an invariant that does not hold, and the shortest way there", door(), 100,
			&machine.Broken[event]{What: "AtMostTwoBangs", Path: []event{pull{}, push{}, pull{}, push{}, pull{}, push{}}},
		},
		{
			"an effect that is missing", door().Mutate(1, func(_, next state, _ []effect) (state, []effect) {
				return next, nil
			}), 100,
			&machine.Broken[event]{What: "LockedIsLocked", Path: []event{turned{1}}},
		},
		{
			"a pair without a row", door().Mutate(3, nil), 100,
			&machine.Broken[event]{What: "no row for Opened", Path: []event{pull{}, push{}}},
		},
		{
			"more states than the limit", door(), 2,
			&machine.Broken[event]{What: "more states than the limit", Path: []event{pull{}}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := machine.Explore(c.table, state(closed{}), seen{}, c.limit, always, monitor.Watch)
			var broken *machine.Broken[event]
			g.Expect(errors.As(err, &broken)).To(gomega.BeTrue())
			g.Expect(broken).To(gomega.Equal(c.want))
			g.Expect(broken.Error()).To(gomega.HavePrefix(c.want.What + ": "))
		})
	}
}

// counted is a memory that counts: 10 for an event, 1 for an effect.
type counted int

func (n counted) Event(edge) counted          { return n + 10 }
func (n counted) Effect(edge, effect) counted { return n + 1 }

func TestSeeAndEvery(t *testing.T) {
	g := gomega.NewWithT(t)
	step := edge{Effects: []effect{"a", "b", "c"}}
	var before []counted
	all := machine.Every(counted(3), step, func(n counted, f effect) bool {
		before = append(before, n)
		return f != "b"
	})
	g.Expect(all).To(gomega.BeFalse())
	g.Expect(before).To(gomega.Equal([]counted{13, 14}), "each effect is asked with what was seen before it")
	g.Expect(machine.Every(counted(0), edge{}, func(counted, effect) bool { return false })).To(gomega.BeTrue())
	g.Expect(machine.Every(counted(0), step, func(counted, int) bool { return false })).To(gomega.BeTrue(), "no effect has this type")
	g.Expect(machine.Once[int](step, false)).To(gomega.BeTrue())
	g.Expect(machine.Once[int](step, true)).To(gomega.BeFalse())
	g.Expect(machine.Once[effect](step, true)).To(gomega.BeFalse(), "there are three")
	g.Expect(machine.Once[effect](step, false)).To(gomega.BeFalse())
	g.Expect(machine.Once[effect](edge{Effects: step.Effects[:1]}, true)).To(gomega.BeTrue())
	g.Expect(machine.See(counted(3), step)).To(gomega.Equal(counted(16)))
}
