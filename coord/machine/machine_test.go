package machine_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

func TestNext(t *testing.T) {
	for _, c := range []struct {
		name    string
		from    state
		event   event
		to      state
		effects []effect
		action  string
		why     string
	}{
		{"Closed->Pull->Opened", closed{}, pull{}, opened{1}, []effect{"creak", "light"}, "Open", ""},
		{"Closed->Turned(7)->Locked(7)", closed{}, turned{7}, locked{7}, []effect{"click"}, "Lock", ""},
		{"Locked(7)->Turned(7)->Closed", locked{7}, turned{7}, closed{}, []effect{"clack"}, "Unlock", ""},
		{"Locked(7)->Turned(8)->Locked(7)", locked{7}, turned{8}, locked{7}, []effect{"rattle"}, "Rattle", ""},
		{"Opened(1)->Pull->Opened(1)", opened{1}, pull{}, opened{1}, nil, "", "it is open already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			table := door()
			to, effects, row := table.Next(c.from, c.event)
			g.Expect(to).To(gomega.Equal(c.to))
			g.Expect(effects).To(gomega.Equal(c.effects))
			g.Expect(table[row].Action).To(gomega.Equal(c.action))
			g.Expect(table[row].Why).To(gomega.Equal(c.why))
			g.Expect(table[row].To).To(gomega.Equal(c.to.Name()))
		})
	}
	t.Run("a pair without a row changes nothing", func(t *testing.T) {
		g := gomega.NewWithT(t)
		to, effects, row := table{}.Next(opened{3}, push{})
		g.Expect(to).To(gomega.Equal(state(opened{3})))
		g.Expect(effects).To(gomega.BeNil())
		g.Expect(row).To(gomega.Equal(-1))
	})
}

func TestCheck(t *testing.T) {
	shut := on("Shut", func(opened, push) (closed, []effect) { return closed{}, nil })
	for _, c := range []struct {
		name  string
		table table
		wrong []string
	}{
		{"a whole table", door(), nil},
		{"a pair is missing", door().Mutate(3, nil), []string{"Opened Push: missing"}},
		{
			"a guard without an else", door().Mutate(7, nil),
			[]string{"Locked Turned: missing"},
		},
		{
			"a row behind one that always fits", append(door(), shut),
			[]string{"Opened Push: Shut is never reached"},
		},
		{
			"an ignored pair behind one that always fits", append(door(), ignore("late", closed{}, push{})...),
			[]string{"Closed Push: late is never reached"},
		},
		{
			"a guard said twice",
			machine.Join(door()[:7], []row{when("Again", "right key", rightKey, func(s locked, _ turned) (locked, []effect) {
				return s, nil
			})}, door()[7:]),
			[]string{"Locked Turned: guard said twice: right key"},
		},
		{
			"neither an action nor a reason",
			machine.Join(
				door()[:3], []row{on("", func(s opened, _ push) (opened, []effect) { return s, nil })}, door()[4:],
			),
			[]string{"Opened Push: neither an action nor a reason"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(c.table.Check(states, events)).To(gomega.Equal(c.wrong))
		})
	}
	t.Run("a name that is not the machine's", func(t *testing.T) {
		wrong := door().Check(states[:2], events)
		gomega.NewWithT(t).Expect(wrong).To(gomega.And(
			gomega.HaveLen(4), gomega.HaveEach(gomega.HavePrefix("Locked ")),
			gomega.HaveEach(gomega.HaveSuffix(": not a state and an event of this machine"))))
	})
}

func TestMutate(t *testing.T) {
	g := gomega.NewWithT(t)
	whole := door()
	silent := whole.Mutate(0, func(_, next state, f []effect) (state, []effect) { return next, f[:1] })
	stuck := whole.Mutate(0, func(from, _ state, f []effect) (state, []effect) { return from, f })
	gone := whole.Mutate(0, nil)

	to, effects, row := silent.Next(closed{}, pull{})
	g.Expect(to).To(gomega.Equal(state(opened{1})))
	g.Expect(effects).To(gomega.Equal([]effect{"creak"}))
	g.Expect(row).To(gomega.Equal(0))

	to, effects, _ = stuck.Next(closed{}, pull{})
	g.Expect(to).To(gomega.Equal(state(closed{})))
	g.Expect(effects).To(gomega.Equal([]effect{"creak", "light"}))

	_, _, row = gone.Next(closed{}, pull{})
	g.Expect(row).To(gomega.Equal(-1))

	_, effects, _ = whole.Next(closed{}, pull{})
	g.Expect(effects).To(gomega.Equal([]effect{"creak", "light"}), "the table itself is untouched")
}

func TestNegate(t *testing.T) {
	g := gomega.NewWithT(t)
	whole := door()
	swapped := whole.Negate(6)

	to, _, row := swapped.Next(locked{7}, turned{7})
	g.Expect(to).To(gomega.Equal(state(locked{7})))
	g.Expect(row).To(gomega.Equal(7), "the right key rattles")
	to, _, row = swapped.Next(locked{7}, turned{8})
	g.Expect(to).To(gomega.Equal(state(closed{})))
	g.Expect(row).To(gomega.Equal(6), "a wrong one unlocks")

	_, _, row = swapped.Negate(6).Next(locked{7}, turned{7})
	g.Expect(row).To(gomega.Equal(6), "twice is none")
	_, _, row = swapped.Mutate(6, func(_, next state, f []effect) (state, []effect) { return next, f }).Next(locked{7}, turned{8})
	g.Expect(row).To(gomega.Equal(6), "a mutated row keeps its guard as it is")
	_, _, row = whole.Negate(0).Next(closed{}, pull{})
	g.Expect(row).To(gomega.Equal(0), "without a guard there is nothing to negate")
	_, _, row = whole.Next(locked{7}, turned{8})
	g.Expect(row).To(gomega.Equal(7), "the table itself is untouched")
}

func TestMermaid(t *testing.T) {
	gomega.NewWithT(t).Expect(door().Mermaid(closed{})).To(gomega.Equal(`stateDiagram-v2
    [*] --> Closed
    Closed --> Opened: Pull / Open
    Closed --> Locked: Turned / Lock
    Opened --> Closed: Push / Shut
    Locked --> Closed: Turned [right key] / Unlock
    Locked --> Locked: Turned [else] / Rattle
`))
}
