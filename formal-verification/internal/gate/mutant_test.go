package gate

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestMutants(t *testing.T) {
	g := gomega.NewWithT(t)
	list, err := Mutants("# why\n\nA | atomic action B: | x = 1 => x = 2\n B | atomic func f(a): | a | b => a\n")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(list).To(gomega.Equal([]Mutant{
		{3, "A", "atomic action B:", "x = 1", "x = 2"}, {4, "B", "atomic func f(a):", "a | b", "a"},
	}))

	for name, c := range map[string]struct{ text, said string }{
		"two parts":             {"A | atomic action B:", "line 1: expected `ASSERTION"},
		"no edit":               {"A | atomic action B: | x = 1", "line 1: expected `old => new`"},
		"nothing to put there":  {"A | atomic action B: | x = 1 => ", "line 1: expected `old => new`"},
		"the same":              {"A | atomic action B: | x = 1 => x = 1", "changes nothing"},
		"an assertion's edit":   {"A | always assertion A: | x => True", "spoils an assertion"},
		"the same mutant again": {"A | atomic action B: | x => y\n\nA | atomic action B: | x => y", "line 3: it is line 1 again"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Mutants(c.text)
			gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.said)))
		})
	}
}

const mutable = `action Init:
    x = 1       # y here

atomic fair action Grow:
    require x < 3
    # x = x + 1
    x = x + 1   # x = 4

    if x == "# x = 9":
        x = 7

atomic action Same:
    pass
atomic action Twice:
    pass
atomic action Twice:
    pass
`

func TestApply(t *testing.T) {
	edit := func(block, before, after string) Mutant { return Mutant{0, "A", block, before, after} }
	for name, c := range map[string]struct {
		m        Mutant
		was, now string // the only line that differs
	}{
		"a line":              {edit("atomic fair action Grow:", "x + 1", "x + 2"), "\n    x = x + 1   # x = 4", "\n    x = x + 2   # x = 4"},
		"the header":          {edit("atomic fair action Grow:", "atomic fair action", "atomic action"), "fair action Grow", "action Grow"},
		"behind a blank line": {edit("atomic fair action Grow:", "x = 7", "pass"), "        x = 7", "        pass"},
		"a # in a string":     {edit("atomic fair action Grow:", "# x = 9", "9"), `"# x = 9"`, `"9"`},
		"a block by its code": {edit("x = 1", "1", "2"), "x = 1 ", "x = 2 "},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			out, err := c.m.Apply(mutable)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(out).To(gomega.Equal(replaceOnce(g, mutable, c.was, c.now)))
		})
	}
	for name, c := range map[string]struct {
		m    Mutant
		said string
	}{
		"no such block":          {edit("atomic action Gone:", "x", "y"), "no line of the spec"},
		"two such blocks":        {edit("atomic action Twice:", "pass", "x = 1"), "which one is meant?"},
		"no such text":           {edit("atomic action Same:", "x", "y"), "no line of the block"},
		"in the next block only": {edit("atomic action Same:", "Twice", "y"), "no line of the block"},
		"in a comment only":      {edit("atomic fair action Grow:", "x = 4", "y"), "no line of the block"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.m.Apply(mutable)
			gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.said)))
		})
	}
}
