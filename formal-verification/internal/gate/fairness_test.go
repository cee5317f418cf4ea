package gate

// Mutants of fairness get the same decision on the explored graph as in a run of their own.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

func TestOnlyFairness(t *testing.T) {
	const fair, off = "atomic fair action Off:", "atomic action Off:"
	for name, c := range map[string]struct {
		edits []string
		level graph.Fairness
		only  bool
	}{
		"none":                          {[]string{fair, off}, graph.Unfair, true},
		"a stronger one":                {[]string{fair, "atomic fair<strong> action Off:"}, graph.Strong, true},
		"nothing":                       {nil, graph.Unfair, false},
		"something else":                {[]string{"on = False\n    fx", "on = True\n    fx"}, graph.Unfair, false},
		"something else in that action": {[]string{fair + "\n    require on", off + "\n    require True"}, graph.Unfair, false},
		"another action as well":        {[]string{fair, off, "atomic action On:", "atomic fair action On:"}, graph.Unfair, false},
		"an action less":                {[]string{fair + "\n    require on\n    on = False\n    fx = [\"Dark\"]\n", ""}, graph.Unfair, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			text := lamp
			for i := 0; i < len(c.edits); i += 2 {
				text = replaceOnce(g, text, c.edits[i], c.edits[i+1])
			}
			action, level, only := onlyFairness(mustParse(g, lamp), mustParse(g, text))
			g.Expect(only).To(gomega.Equal(c.only))
			if only {
				g.Expect(action).To(gomega.Equal("Off"))
				g.Expect(level).To(gomega.Equal(c.level))
			}
		})
	}
}

// What is decided on the graph at hand is what a run of its own decides.
func TestFairnessIsDecidedAsInARun(t *testing.T) {
	g := gomega.NewWithT(t)
	was := mustParse(g, lamp)
	whole, err := check.Spec(t.Context(), mustParse(g, lamp), check.Options{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, c := range []struct {
		now, assertion string
		notices        bool
	}{
		{"atomic action Off:", "GoesOut", true},
		{"atomic fair<strong> action Off:", "GoesOut", false},
		{"atomic action Off:", "Counted", false},
	} {
		text := replaceOnce(g, lamp, "atomic fair action Off:", c.now)
		g.Expect(notices(whole, c.assertion, was, mustParse(g, text))).To(gomega.Equal(c.notices), c.now)
		run, err := check.Spec(t.Context(), mustParse(g, text), check.Options{Stop: []string{c.assertion}})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(run.Verdict == check.Failed).To(gomega.Equal(c.notices), c.now)
	}
	whole.Graph = nil
	g.Expect(notices(whole, "GoesOut", was, mustParse(g, replaceOnce(g, lamp, "atomic fair action Off:", "atomic action Off:")))).To(gomega.BeFalse())
}
