package gate

// The figures of a run, and golden.txt, the file with the figures that are expected.

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Figures says how much was checked for one spec. All figures except the seconds are the same in every run, and are in specs/golden.txt.
type Figures struct {
	Verdict                                     string // PASSED, or FAILED:ASSERTION where a reference must fail
	Nodes, States, Edges                        int    // of the spec's graph
	Assertions, Asks                            int    // that were decided
	Killed, Mutants                             int
	Pairs, Compared, Refused                    int // of the walk beside the code
	CheckSeconds, MutantSeconds, ConformSeconds float64
}

var goldenColumns = []string{
	"spec", "verdict", "nodes", "states", "edges", "assertions", "asks", "killed", "mutants", "pairs", "compared", "refused",
}

// counters are the figures except the verdict and the seconds, in the order of the columns.
func (f *Figures) counters() []*int {
	return []*int{&f.Nodes, &f.States, &f.Edges, &f.Assertions, &f.Asks, &f.Killed, &f.Mutants, &f.Pairs, &f.Compared, &f.Refused}
}

func (f Figures) counts() (out []int) {
	for _, n := range f.counters() {
		out = append(out, *n)
	}
	return out
}

func (f Figures) cells() []string {
	out := []string{f.Verdict}
	for _, n := range f.counts() {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

// same reports whether the figures are equal, except for the times.
func (f Figures) same(other Figures) bool {
	return f.Verdict == other.Verdict && slices.Equal(f.counts(), other.counts())
}

// smaller returns the names of the figures that are smaller than before.
func (f Figures) smaller(before Figures) []string {
	var out []string
	now, was := f.counts(), before.counts()
	for i := range now {
		if now[i] < was[i] {
			out = append(out, fmt.Sprintf("%s %d -> %d", goldenColumns[i+2], was[i], now[i]))
		}
	}
	return out
}

// golden returns the text of specs/golden.txt for these figures.
func golden(figures map[string]Figures) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { _, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) }
	row(goldenColumns...)
	for _, name := range sorted(figures) {
		row(append([]string{name}, figures[name].cells()...)...)
	}
	_ = w.Flush() // a Builder takes everything
	return b.String()
}

func readGolden(text string) (map[string]Figures, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if !slices.Equal(strings.Fields(lines[0]), goldenColumns) {
		return nil, errors.New("line 1: expected the columns " + strings.Join(goldenColumns, " "))
	}
	out := map[string]Figures{}
	for i, l := range lines[1:] {
		cells := strings.Fields(l)
		if len(cells) != len(goldenColumns) {
			return nil, fmt.Errorf("line %d: expected %d columns, found %d", i+2, len(goldenColumns), len(cells))
		}
		f := Figures{Verdict: cells[1]}
		for k, p := range f.counters() {
			n, err := strconv.Atoi(cells[k+2])
			if err != nil {
				return nil, fmt.Errorf("line %d: %s: %w", i+2, goldenColumns[k+2], err)
			}
			*p = n
		}
		if _, twice := out[cells[0]]; twice {
			return nil, fmt.Errorf("line %d: %s is there twice", i+2, cells[0])
		}
		out[cells[0]] = f
	}
	return out, nil
}

// compare returns the differences between the figures found and the expected ones. If all is false, it compares only the specs in found.
func compare(found, expected map[string]Figures, all bool) []string {
	var out []string
	for _, name := range sorted(found) {
		was, known := expected[name]
		switch now := found[name]; {
		case !known:
			out = append(out, name+": its figures are not in golden.txt: write them with -rewrite")
		case !now.same(was):
			out = append(out, fmt.Sprintf("%s: the figures are not those of golden.txt: see whether that is meant, then -rewrite\n%s",
				name, golden(map[string]Figures{"found": now, "golden": was})))
		}
	}
	if all {
		for _, name := range sorted(expected) {
			if _, still := found[name]; !still {
				out = append(out, name+": golden.txt has figures of it, and there is no such spec")
			}
		}
	}
	return out
}

// shrunk returns which figures are smaller than before: less is proven.
func shrunk(found, before map[string]Figures) []string {
	var out []string
	for _, name := range sorted(before) {
		now, still := found[name]
		if !still {
			out = append(out, name+": gone")
			continue
		}
		if less := now.smaller(before[name]); len(less) > 0 {
			out = append(out, name+": "+strings.Join(less, ", "))
		}
	}
	return out
}

func sorted[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// Rewrite writes the figures of a run that passed to the file. was is its former text. Smaller figures are an error unless shrink is true.
func (r Report) Rewrite(file, was string, shrink bool) error {
	if was != "" && !shrink {
		before, err := readGolden(was)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if less := shrunk(r.Figures(), before); len(less) > 0 {
			return fmt.Errorf("less is proven than before; if that is meant, add -smaller and say why in the commit:\n  %s", strings.Join(less, "\n  "))
		}
	}
	if err := os.WriteFile(file, []byte(golden(r.Figures())), 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}
