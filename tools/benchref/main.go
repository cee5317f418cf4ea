// Command benchref prints the results of `go test -bench` beside those of a
// reference run.
//
//	benchref REFERENCE RESULTS
//
// Both files are in the format that go test prints; a result is known by its
// package's folder and its name. The reference may also hold goals, in the same
// format with Target for Benchmark, in the part of their package:
//
//	pkg: github.com/antiphon-rt/antiphon/internal/voice
//	TargetDetector 10000 ns/op
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"text/tabwriter"
)

// A measure is one value of one benchmark.
type measure struct{ name, unit string }

// results are the values of a run in the order in which they were printed.
type results struct {
	order  []measure
	values map[measure]float64
	goals  map[measure]float64
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: benchref REFERENCE RESULTS")
		os.Exit(2)
	}
	if err := compare(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "benchref:", err)
		os.Exit(1)
	}
}

func compare(w io.Writer, referenceFile, resultsFile string) error {
	reference, err := load(referenceFile)
	if err != nil {
		return err
	}
	now, err := load(resultsFile)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "benchmark\tunit\tnow\treference\tnow/reference\tgoal\t")
	for _, m := range now.order {
		value := now.values[m]
		was, ratio, goal := "-", "-", "-"
		if v, ok := reference.values[m]; ok {
			was = number(v)
			if v != 0 {
				ratio = strconv.FormatFloat(value/v, 'f', 2, 64)
			}
		}
		if v, ok := reference.goals[m]; ok {
			goal = number(v)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t\n", m.name, m.unit, number(value), was, ratio, goal)
	}
	return t.Flush()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// load reads the lines of a run that are results or goals and passes over
// the others, as every reader of this format does.
func load(name string) (results, error) {
	r := results{values: map[measure]float64{}, goals: map[measure]float64{}}
	f, err := os.Open(name)
	if err != nil {
		return r, err
	}
	defer f.Close()
	folder := ""
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		if fields[0] == "pkg:" && len(fields) > 1 {
			folder = path.Base(fields[1]) + "."
		}
		if name, ok := strings.CutPrefix(fields[0], "Benchmark"); ok && len(fields) > 2 {
			name = folder + withoutProcs(name)
			eachValue(fields[2:], func(v float64, unit string) { // fields[1] counts the rounds
				m := measure{name, unit}
				if _, seen := r.values[m]; !seen {
					r.order = append(r.order, m)
				}
				r.values[m] = v
			})
		}
		if name, ok := strings.CutPrefix(fields[0], "Target"); ok {
			name = folder + name
			eachValue(fields[1:], func(v float64, unit string) { r.goals[measure{name, unit}] = v })
		}
	}
	return r, lines.Err()
}

// withoutProcs cuts the number of processors that go test adds to a name.
func withoutProcs(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return name
	}
	if _, err := strconv.Atoi(name[i+1:]); err != nil {
		return name
	}
	return name[:i]
}

func eachValue(fields []string, visit func(v float64, unit string)) {
	for i := 0; i+1 < len(fields); i += 2 {
		if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
			visit(v, fields[i+1])
		}
	}
}
