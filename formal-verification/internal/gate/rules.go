package gate

// The house rules for specifications: each rule closes a gap through which FizzBee would let a mistake pass.

import (
	"fmt"

	ast "fizz/proto"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

// Problem is one mistake in a spec. Line is 0 if the mistake is not in one line.
type Problem struct {
	Line int
	What string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.What
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.What)
}

// initAction is the action that a spec begins with.
const initAction = "Init"

// House returns the mistakes that are found before a spec is explored: against the house rules, and assignments to unknown names,
// for which the checker would silently make new variables.
func House(f *ast.File) []string {
	var out []string
	for _, p := range Rules(f) {
		out = append(out, p.String())
	}
	for _, p := range parse.Targets(f) {
		out = append(out, p.String())
	}
	return out
}

// Rules checks the house rules. Each rule is about a mistake that the checker lets pass.
func Rules(f *ast.File) []Problem {
	out := frontMatter(f)
	out = append(out, actionRules(f)...)
	out = append(out, assertionRules(f)...)
	if len(f.GetImports()) > 0 {
		out = append(out, Problem{line(f.GetImports()[0]), "an import: a spec stands in one file"})
	}
	return out
}

func actionRules(f *ast.File) []Problem {
	var out []Problem
	begins, steps := false, 0
	for _, a := range f.GetActions() {
		if a.GetName() == initAction {
			begins = true
		} else {
			steps++
		}
	}
	for _, r := range f.GetRoles() {
		steps += len(r.GetActions())
	}
	if !begins {
		out = append(out, Problem{0, "no action Init: nothing begins, so everything holds"})
	}
	if steps == 0 {
		out = append(out, Problem{0, "no action beside Init: nothing happens, so everything holds"})
	}
	return out
}

func assertionRules(f *ast.File) []Problem {
	var out []Problem
	for _, inv := range f.GetInvariants() {
		if inv.GetName() == "" {
			out = append(out, Problem{line(inv), "an assertion without a name: write `always assertion NAME:`"})
		}
	}
	for _, r := range f.GetRoles() {
		for _, inv := range r.GetInvariants() {
			out = append(out, Problem{line(inv), fmt.Sprintf(
				"assertion %s stands in role %s, where the checker never looks at it: move it out", inv.GetName(), r.GetName())})
		}
	}
	if len(f.GetInvariants()) == 0 {
		out = append(out, Problem{0, "no assertion: nothing is claimed, so everything holds"})
	}
	return out
}

func line(at interface{ GetSourceInfo() *ast.SourceInfo }) int {
	return int(at.GetSourceInfo().GetStart().GetLine())
}
