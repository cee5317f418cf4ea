package gate

// Prints the report: the figures as a table, and the problems.

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Print writes the figures as a table, then everything that is wrong.
func (r Report) Print(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { _, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) }
	row("spec", "verdict", "nodes", "states", "edges", "asserted", "asked", "mutants", "with code", "refused", "check s", "mutants s", "code s")
	var sum Figures
	seconds := func(s float64) string { return strconv.FormatFloat(s, 'f', 1, 64) }
	line := func(name string, f Figures) {
		row(name, f.Verdict, strconv.Itoa(f.Nodes), strconv.Itoa(f.States), strconv.Itoa(f.Edges), strconv.Itoa(f.Assertions),
			strconv.Itoa(f.Asks), fmt.Sprintf("%d/%d", f.Killed, f.Mutants), strconv.Itoa(f.Compared), strconv.Itoa(f.Refused),
			seconds(f.CheckSeconds), seconds(f.MutantSeconds), seconds(f.ConformSeconds))
	}
	for _, s := range r.Specs {
		f := s.Figures
		if len(s.Problems) > 0 {
			f.Verdict = "RED"
		}
		line(s.Name, f)
		sum = sum.plus(f)
	}
	sum.Verdict = fmt.Sprintf("%d specs", len(r.Specs))
	line("all", sum)
	_ = table.Flush() // what w does not take, the exit code still says
	for _, s := range r.Specs {
		for _, p := range s.Problems {
			_, _ = fmt.Fprintf(w, "\n%s: %s\n", s.Name, p)
		}
	}
	for _, p := range r.Problems {
		_, _ = fmt.Fprintf(w, "\n%s\n", p)
	}
}

func (f Figures) plus(other Figures) Figures {
	more := other.counts()
	for i, n := range f.counters() {
		*n += more[i]
	}
	f.CheckSeconds += other.CheckSeconds
	f.MutantSeconds += other.MutantSeconds
	f.ConformSeconds += other.ConformSeconds
	return f
}
