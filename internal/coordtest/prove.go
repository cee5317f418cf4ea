package coordtest

// Prove: explores a machine, checks every invariant in every state, and checks that each mutant is noticed.

import (
	"fmt"
	"path"
	"reflect"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// Prove explores the machine and its mutants, and compares what it found with
// testdata/explored.txt and with the constant in fingerprint_gen.go, so that a change of behaviour shows in review.
func Prove[S, E, F Value, G comparable](t *testing.T, sub Subject[S, E, F, G]) {
	t.Helper()
	t.Run("every pair has its row", func(t *testing.T) {
		gomega.NewWithT(t).Expect(sub.Table.Check(sub.States, sub.Events)).To(gomega.BeEmpty())
	})
	graph, err := sub.Explore()
	t.Run("every invariant holds on every reachable transition", func(t *testing.T) {
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	})
	if t.Failed() {
		return
	}
	t.Run("every row is taken and every state reached", func(t *testing.T) {
		gomega.NewWithT(t).Expect(sub.missed(graph)).To(gomega.BeEmpty())
	})
	t.Run("no mutant survives, and every invariant catches one", func(t *testing.T) {
		found := sub.tally(graph)
		t.Logf("%s: mutants=%d invariant=%d shape=%d graph=%d survivors=%d", sub.name(),
			found.all, found.byInvariant, found.byShape, len(found.graphOnly), len(found.survivors))
		report, missing := sub.report(graph, found)
		gomega.NewWithT(t).Expect(missing).To(gomega.BeEmpty())
		golden(t, "explored.txt", report)
	})
	t.Run("the fingerprint is that of the graph", func(t *testing.T) {
		Fingerprint(t, sub.name(), graph.Fingerprint())
	})
	t.Run("several writers", func(t *testing.T) { Race(t, sub) })
}

// name is the machine's: its package's.
func (sub Subject[S, E, F, G]) name() string { return path.Base(reflect.TypeOf(sub.First).PkgPath()) }

// missed lists the rows that no walk takes and the states that none reaches.
func (sub Subject[S, E, F, G]) missed(g Graph[S, E, F]) []string {
	taken := make([]bool, len(sub.Table))
	reached := map[string]bool{}
	for _, e := range g.Edges {
		taken[e.Row] = true
		reached[e.From.Name()], reached[e.To.Name()] = true, true
	}
	var out []string
	for i, row := range sub.Table {
		if !taken[i] {
			out = append(out, "row never taken: "+row.From+" + "+row.Event+", "+row.Action+row.Why+" ["+row.Guard+"]")
		}
	}
	for _, s := range sub.States {
		if !reached[s.Name()] {
			out = append(out, "state never reached: "+s.Name())
		}
		delete(reached, s.Name())
	}
	for name := range reached {
		out = append(out, "state not listed: "+name)
	}
	return out
}

// catches is what one invariant sees: how many mutants, and the one that fewest others see.
type catches[S, E, F Value] struct {
	count, others int
	example       mutant[S, E, F]
}

// tally is the verdicts on all mutants.
type tally[S, E, F Value] struct {
	all, byInvariant, byShape int
	graphOnly, survivors      []string
	by                        map[string]catches[S, E, F]
}

func (sub Subject[S, E, F, G]) tally(g Graph[S, E, F]) tally[S, E, F] {
	want := g.steps()
	out := tally[S, E, F]{by: map[string]catches[S, E, F]{}}
	for _, m := range sub.mutants(g) {
		out.all++
		v := sub.judge(m, g.Nodes, want)
		switch {
		case v.survives():
			out.survivors = append(out.survivors, "survivor: "+m.name)
		case len(v.broken) > 0:
			out.byInvariant++
		case v.shape:
			out.byShape++
		default:
			out.graphOnly = append(out.graphOnly, m.name)
		}
		for _, name := range v.broken {
			c := out.by[name]
			if c.count == 0 || len(v.broken)-1 < c.others {
				c.others, c.example = len(v.broken)-1, m
			}
			c.count++
			out.by[name] = c
		}
	}
	return out
}

// report says what was explored and which invariant catches what; missing lists
// mutants that nothing sees and invariants that see none.
func (sub Subject[S, E, F, G]) report(
	g Graph[S, E, F], found tally[S, E, F],
) (report string, missing []string) {
	missing = found.survivors
	var b strings.Builder
	line := func(format string, a ...any) { _, _ = fmt.Fprintf(&b, format+"\n", a...) }
	line("%d rows, %d transitions, %d states with what the monitor saw, %d edges; %s",
		len(sub.Table), len(g.steps()), g.Nodes, len(g.Edges), sub.Limits)
	line("fingerprint %016x", g.Fingerprint())
	line("%d mutants: %d seen by an invariant, %d by the shape alone, %d by the graph alone",
		found.all, found.byInvariant, found.byShape, len(found.graphOnly))
	for _, inv := range sub.Monitor.Invariants {
		c := found.by[inv.Name]
		if c.count == 0 {
			missing = append(missing, "invariant that catches nothing: "+inv.Name)
			continue
		}
		line("\n%s sees %d, such as", inv.Name, c.count)
		line("    %s", c.example.name)
		line("    after: %s", sub.shortest(c.example, inv.Name))
	}
	if len(found.graphOnly) > 0 {
		line("\nseen by the graph alone")
	}
	for _, name := range found.graphOnly {
		line("    %s", name)
	}
	return b.String(), missing
}
