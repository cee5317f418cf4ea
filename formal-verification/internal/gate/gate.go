package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	ast "fizz/proto"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/conform"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

// Gate is what specs are held to. New makes the one that counts.
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

// New is the gate of this repository, for the specs in a folder.
func New(specs string) *Gate {
	return &Gate{
		Specs: specs, Check: check.Spec, Machines: conform.All(), Designed: designed(), References: references,
		SpecTime: 5 * time.Minute, MutantTime: 2 * time.Minute,
	}
}

// Report is what became of a run.
type Report struct {
	Specs []SpecReport
	// Problems are of no one spec.
	Problems []string
	Seconds  float64
}

// SpecReport is what became of one spec.
type SpecReport struct {
	Name     string
	Figures  Figures
	Problems []string
}

// Passed says whether there is nothing against it.
func (r Report) Passed() bool {
	return len(r.Specs) > 0 && len(r.Problems) == 0 &&
		!slices.ContainsFunc(r.Specs, func(s SpecReport) bool { return len(s.Problems) > 0 })
}

// Figures are those of the specs that passed.
func (r Report) Figures() map[string]Figures {
	out := map[string]Figures{}
	for _, s := range r.Specs {
		if len(s.Problems) == 0 {
			out[s.Name] = s.Figures
		}
	}
	return out
}

// Run holds the named specs to everything but the golden figures; without names, all of them.
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
	for i, name := range found {
		running.Go(func() { report.Specs[i] = g.judge(ctx, name) })
	}
	running.Wait()
	report.Seconds = time.Since(began).Seconds()
	return report
}

// Compare adds to the report what is not as golden.txt has it; all: no spec was left out.
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

// find lists the specs by name: "response", "reference/response_source".
func (g *Gate) find() ([]string, error) {
	var out []string
	err := filepath.WalkDir(g.Specs, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, isSpec := strings.CutSuffix(file, ".fizz")
		if d.IsDir() || !isSpec {
			return nil
		}
		name, err = filepath.Rel(g.Specs, name)
		out = append(out, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for specs: %w", err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no specs in %s: nothing is proven", g.Specs)
	}
	slices.Sort(out)
	return out, nil
}

// unmatched are the specs, tables and names that nothing stands for on the other side.
func (g *Gate) unmatched(specs []string) []string {
	var out []string
	var coded []string
	for _, m := range g.Machines {
		if slices.Contains(coded, m.Name()) {
			out = append(out, m.Name()+": two tables are to be compared with it")
		}
		coded = append(coded, m.Name())
	}
	known := slices.Concat(coded, slices.Collect(maps.Keys(g.References)))
	for _, name := range lacking(known, specs) {
		out = append(out, name+": the gate knows of it, and there is no such spec")
	}
	for _, name := range lacking(sorted(g.Designed), specs) {
		out = append(out, name+": the design asks for it, and there is no such spec")
	}
	for _, name := range lacking(specs, known) {
		out = append(out, name+": no code is compared with it: write its adapter, or say in the gate's references what it is for")
	}
	for _, name := range sorted(g.Designed) {
		for _, assertion := range lacking(g.Designed[name], g.claimed(name, specs)) {
			out = append(out, fmt.Sprintf("%s: the design asks for %s, and the spec does not assert it", name, assertion))
		}
	}
	slices.Sort(out)
	return out
}

// claimed is every name that is asserted or asked in the spec of that name or a part of it.
// A spec that cannot be read claims nothing; that it is wrong is said where it is judged.
func (g *Gate) claimed(name string, specs []string) []string {
	var out []string
	for _, s := range specs {
		if s != name && !strings.HasPrefix(s, name+"_") {
			continue
		}
		file := filepath.Join(g.Specs, s+".fizz")
		src, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if f, err := parse.File(file, src); err == nil {
			out = append(out, assertions(f)...)
		}
		if asks, err := Asks(string(src)); err == nil {
			for _, a := range asks {
				out = append(out, a.Name)
			}
		}
	}
	return out
}

// a spec on its way through the gate
type spec struct {
	*Gate
	SpecReport
	src  string
	file *ast.File
}

func (g *Gate) judge(ctx context.Context, name string) SpecReport {
	s := &spec{Gate: g, SpecReport: SpecReport{Name: name}}
	if err := s.pass(ctx); err != nil {
		s.Problems = append(s.Problems, err.Error())
	}
	return s.SpecReport
}

func (s *spec) blame(format string, a ...any) {
	s.Problems = append(s.Problems, fmt.Sprintf(format, a...))
}

// path of a file beside the spec
func (s *spec) path(ending string) string {
	return path.Join(filepath.ToSlash(s.Specs), s.Name+ending)
}

// errNoChecker is what a gate without a checker says.
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
	for _, p := range Rules(s.file) {
		s.blame("%s", p)
	}
	for _, p := range parse.Targets(s.file) { // the checker would make new variables of them in silence
		s.blame("%s", p)
	}
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
	if len(s.Problems) > 0 {
		return nil // mutants of a spec that does not hold say nothing
	}
	if err := s.mutants(ctx); err != nil {
		s.blame("%v", err)
	}
	s.conform(result)
	return nil
}

// explore checks the whole spec.
func (s *spec) explore(ctx context.Context) (check.Result, error) {
	if s.Check == nil {
		return check.Result{}, errNoChecker
	}
	s.slots <- struct{}{}
	defer func() { <-s.slots }()
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
