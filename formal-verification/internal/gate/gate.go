package gate

// The gate: runs all checks on the specifications and collects a report.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	ast "fizz/proto"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/conform"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

// Gate has what is needed to check specs. New returns the gate of this repository.
type Gate struct {
	// Specs is the folder of the .fizz files, with one folder "reference" in it.
	Specs string
	// Check explores one spec. Nil is an error, not an empty check.
	Check func(context.Context, *ast.File, check.Options) (check.Result, error)
	// Machines is the code, one for each spec outside "reference".
	Machines []conform.Comparer
	// Designed are the names that must be claimed, by an assertion or an `# ask`, in the
	// spec of that name or in one that tells another part of it: "session", "session_end".
	Designed map[string][]string
	// References is what is known of the specs in "reference", by "reference/NAME".
	References map[string]Reference
	// SpecTime and MutantTime bound one run of the checker.
	SpecTime, MutantTime time.Duration

	slots chan struct{} // processes at a time
}

// New returns the gate of this repository, for the specs in a folder.
func New(specs string) *Gate {
	machines := conform.All()
	return &Gate{
		Specs: specs, Check: check.Spec, Machines: machines, Designed: designed(machines), References: references,
		SpecTime: 40 * time.Minute, MutantTime: 20 * time.Minute, // far above what a busy machine needs
	}
}

// Report is the result of a run.
type Report struct {
	Specs []SpecReport
	// Problems are of no one spec.
	Problems []string
	Seconds  float64
}

// SpecReport is the result for one spec.
type SpecReport struct {
	Name     string
	Figures  Figures
	Problems []string
	// Missing is what the spec's adapter never offered the code, by the machine and its state.
	Missing map[string][]string
	offers  *conform.Offers
}

func (r Report) Passed() bool {
	return len(r.Specs) > 0 && len(r.Problems) == 0 &&
		!slices.ContainsFunc(r.Specs, func(s SpecReport) bool { return len(s.Problems) > 0 })
}

// Figures returns the figures of the specs that passed.
func (r Report) Figures() map[string]Figures {
	out := map[string]Figures{}
	for _, s := range r.Specs {
		if len(s.Problems) == 0 {
			out[s.Name] = s.Figures
		}
	}
	return out
}

// Run checks the named specs, or all specs if there are no names. It does not compare the figures with golden.txt: see Compare.
func (g *Gate) Run(ctx context.Context, names ...string) Report {
	began := time.Now()
	g.slots = make(chan struct{}, runtime.GOMAXPROCS(0))
	found, err := g.find()
	if err != nil {
		return Report{Problems: []string{err.Error()}}
	}
	report := Report{Problems: g.unmatched(found)}
	if len(names) > 0 {
		for _, name := range lacking(names, found) {
			report.Problems = append(report.Problems, name+": no such spec")
		}
		found = slices.DeleteFunc(found, func(name string) bool { return !slices.Contains(names, name) })
	}
	report.Specs = make([]SpecReport, len(found))
	var running sync.WaitGroup
	for _, i := range g.largestFirst(found) {
		g.slots <- struct{}{} // judge gives it back when the spec is explored
		running.Go(func() { report.Specs[i] = g.judge(ctx, found[i]) })
	}
	running.Wait()
	report.Seconds = time.Since(began).Seconds()
	return report
}

// largestFirst returns the order in which the specs are checked: the largest first, so that all cores finish at about the same time.
func (g *Gate) largestFirst(names []string) []int {
	sizes := make([]int64, len(names))
	order := make([]int, len(names))
	for i, name := range names {
		order[i] = i
		if info, err := os.Stat(filepath.Join(g.Specs, name+".fizz")); err == nil {
			sizes[i] = info.Size()
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	return order
}

// Compare adds the differences between the figures and golden.txt to the report. all says that the run had all specs.
func (r *Report) Compare(golden string, all bool) {
	was, err := readGolden(golden)
	if err != nil {
		r.Problems = append(r.Problems, "golden.txt: "+err.Error())
		return
	}
	figures := r.Figures()
	for _, s := range r.Specs {
		if len(s.Problems) > 0 { // it is red already; its figures say nothing
			delete(was, s.Name)
		}
	}
	r.Problems = append(r.Problems, compare(figures, was, all)...)
}

// spec is one spec while it is checked.
type spec struct {
	*Gate
	SpecReport
	src     string
	file    *ast.File
	release func() // of the slot that the spec is explored in
}

func (g *Gate) judge(ctx context.Context, name string) SpecReport {
	s := &spec{Gate: g, SpecReport: SpecReport{Name: name}, release: sync.OnceFunc(func() { <-g.slots })}
	defer s.release()
	if err := s.pass(ctx); err != nil {
		s.Problems = append(s.Problems, err.Error())
	}
	return s.SpecReport
}

func (s *spec) blame(format string, a ...any) {
	s.Problems = append(s.Problems, fmt.Sprintf(format, a...))
}

// path returns the path of the file next to the spec with another ending.
func (s *spec) path(ending string) string {
	return path.Join(filepath.ToSlash(s.Specs), s.Name+ending)
}

// errNoChecker is the error of a gate without a checker.
var errNoChecker = errors.New("no checker: nothing is proven")

func (s *spec) pass(ctx context.Context) error {
	src, err := os.ReadFile(s.path(".fizz"))
	if err != nil {
		return fmt.Errorf("read the spec: %w", err)
	}
	s.src = string(src)
	if s.file, err = parse.File(s.path(".fizz"), src); err != nil {
		return err
	}
	s.Problems = House(s.file)
	if len(s.Problems) > 0 {
		return nil // a run would only repeat it in other words
	}
	result, err := s.explore(ctx)
	if err != nil {
		return err
	}
	if r, known := s.References[s.Name]; known {
		return s.reference(r, result)
	}
	asks, err := Asks(s.src)
	if err != nil {
		return err
	}
	s.whole(result)
	s.asked(asks, result)
	s.fairness(result, asks)
	if len(s.Problems) > 0 {
		return nil // mutants of a spec that does not hold say nothing
	}
	if err := s.mutants(ctx, result); err != nil {
		s.blame("%v", err)
	}
	s.conform(result)
	return nil
}

func (s *spec) explore(ctx context.Context) (check.Result, error) {
	if s.Check == nil {
		return check.Result{}, errNoChecker
	}
	defer s.release()
	began := time.Now()
	result, err := s.Check(ctx, s.file, check.Options{Timeout: s.SpecTime})
	s.Figures.CheckSeconds = time.Since(began).Seconds()
	s.Figures.Verdict, s.Figures.Nodes, s.Figures.States = verdict(result), result.Nodes, result.States
	if result.Graph != nil {
		s.Figures.Edges = len(result.Graph.Edges)
	}
	s.Figures.Assertions = len(result.Assertions)
	return result, err
}
