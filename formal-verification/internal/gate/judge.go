package gate

// The checks of one specification: that everything was explored, that every question has the answer yes, and that every mutant fails.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	ast "fizz/proto"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/conform"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

// Whole returns what a run left out of a spec, whatever its verdict is.
func Whole(f *ast.File, r check.Result) []string {
	var out []string
	if r.MaxActionsReached {
		out = append(out, "max_actions was reached, so it was not explored whole: make max_actions larger or the spec smaller")
	}
	if r.Graph != nil {
		for _, name := range lacking(actions(f), happened(r.Graph)) {
			out = append(out, "the action "+name+" is never enabled: what it does is not explored")
		}
	}
	if r.Verdict != check.Passed {
		return out
	}
	if r.Graph == nil || len(r.Graph.Nodes) == 0 || len(r.Graph.Init) == 0 || r.Nodes == 0 {
		return append(out, "the checker passed it without exploring anything")
	}
	var decided []string
	for _, a := range r.Assertions {
		if a.Decided && a.Holds {
			decided = append(decided, a.Name)
		}
	}
	for _, name := range lacking(assertions(f), decided) {
		out = append(out, "the checker passed it without deciding "+name)
	}
	return out
}

// whole reports what was left out, and which assertions do not hold.
func (s *spec) whole(r check.Result) {
	s.Problems = append(s.Problems, Whole(s.file, r)...)
	if r.Verdict != check.Passed {
		s.blame("%s\n%s", verdict(r), graph.Print(r.Trace))
	}
}

func assertions(f *ast.File) []string {
	var out []string
	for _, inv := range f.GetInvariants() {
		out = append(out, inv.GetName())
	}
	return out
}

func actions(f *ast.File) []string {
	var out []string
	for _, a := range f.GetActions() {
		if a.GetName() != initAction {
			out = append(out, a.GetName())
		}
	}
	for _, r := range f.GetRoles() {
		for _, a := range r.GetActions() {
			if a.GetName() != initAction {
				out = append(out, r.GetName()+"."+a.GetName())
			}
		}
	}
	return out
}

// happened returns the actions of a graph's edges. The action of a role has no instance: "Writer.Write" for "Writer#0.Write".
func happened(g *graph.Graph) []string {
	seen := map[string]bool{}
	for _, e := range g.Edges {
		name := e.Action
		if role, rest, isRole := strings.Cut(name, "#"); isRole {
			if _, action, ok := strings.Cut(rest, "."); ok {
				name = role + "." + action
			}
		}
		seen[name] = true
	}
	return sorted(seen)
}

// asked decides the spec's questions and reports those with the answer no.
func (s *spec) asked(asks []Ask, r check.Result) {
	if r.Graph == nil || r.Verdict != check.Passed {
		return
	}
	known := actions(s.file)
	for _, a := range asks {
		if a.Kind == askEnabled && !slices.Contains(known, a.Action) {
			s.blame("line %d: ask %s: no action is named %s", a.Line, a.Name, a.Action)
			continue
		}
		against, err := a.decide(r.Graph, constants(s.file))
		switch {
		case err != nil:
			s.blame("line %d: ask %s: %v", a.Line, a.Name, err)
		case against != "":
			s.blame("line %d: ask %s %s: %s", a.Line, a.Kind, a.Name, against)
		}
	}
	s.Figures.Asks = len(asks)
}

func (s *spec) reference(known Reference, r check.Result) error {
	if what := known.differs(r); what != "" {
		return fmt.Errorf("%s: %s", known.Why, what)
	}
	if known.Verdict == check.Passed {
		s.whole(r)
	}
	return nil
}

// mutants checks all mutants of the spec and reports those whose assertion does not fail.
func (s *spec) mutants(ctx context.Context, whole check.Result) error {
	text, err := os.ReadFile(s.path(".mutants"))
	if err != nil {
		return fmt.Errorf("no mutants, so nothing shows that its assertions bite: %w", err)
	}
	list, err := Mutants(string(text))
	if err != nil {
		return fmt.Errorf("%s.mutants: %w", s.Name, err)
	}
	known := assertions(s.file)
	var aimed []string
	for _, m := range list {
		aimed = append(aimed, m.Assertion)
	}
	for _, name := range lacking(aimed, known) {
		s.blame("a mutant for %s, which is no assertion", name)
	}
	for _, name := range lacking(known, aimed) {
		s.blame("no mutant for %s: nothing shows that it bites", name)
	}
	if len(s.Problems) > 0 {
		return nil
	}
	began := time.Now()
	said := make([]error, len(list))
	var running sync.WaitGroup
	for i, m := range list {
		running.Go(func() { said[i] = s.kill(ctx, m, whole) })
	}
	running.Wait()
	s.Figures.MutantSeconds = time.Since(began).Seconds()
	s.Figures.Mutants = len(list)
	for i, m := range list {
		if said[i] == nil {
			s.Figures.Killed++
			continue
		}
		s.blame("mutant of line %d, %s: %v", m.Line, m, said[i])
	}
	return nil
}

var errSurvived = errors.New("it survives: the assertion does not notice")

// kill returns nil if the mutant makes its assertion fail. whole is the result of the spec itself.
func (s *spec) kill(ctx context.Context, m Mutant, whole check.Result) error {
	edited, err := m.Apply(s.src)
	if err != nil {
		return err
	}
	f, err := parse.File(s.path(".fizz"), []byte(edited))
	if err != nil {
		return fmt.Errorf("the edit is no spec: %w", err)
	}
	s.slots <- struct{}{}
	defer func() { <-s.slots }()
	if notices(whole, m.Assertion, s.file, f) {
		return nil
	}
	r, err := s.Check(ctx, f, check.Options{Timeout: s.MutantTime, Stop: []string{m.Assertion}})
	switch {
	case err != nil:
		return err
	case r.Verdict == check.Failed && r.Assertion == m.Assertion:
		return nil
	case r.Verdict == check.Passed:
		return errSurvived
	}
	return fmt.Errorf("%s instead", verdict(r))
}

func (s *spec) conform(r check.Result) {
	for _, m := range s.Machines {
		if m.Name() != s.Name {
			continue
		}
		s.slots <- struct{}{}
		defer func() { <-s.slots }()
		began := time.Now()
		figures, offers, err := conform.CompareAndList(m, r.Graph)
		s.Missing, s.offers = offers.Missing(), offers
		s.Figures.ConformSeconds = time.Since(began).Seconds()
		s.Figures.Pairs, s.Figures.Compared, s.Figures.Refused = figures.States, figures.Edges, figures.Refused
		if err != nil {
			s.blame("spec and code differ: %v", err)
		}
		return
	}
}
