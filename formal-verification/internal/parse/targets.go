package parse

// Finds assignments to names that a specification does not have, for example to a misspelt variable.

import (
	"cmp"
	"fmt"
	"slices"

	ast "fizz/proto"
)

// Problem is an assignment that does not do what it says.
type Problem struct {
	Line, Col int
	In        string // "action Close", "func Server.ready"
	Name      string // what is assigned to
	Why       string
}

func (p Problem) String() string {
	return fmt.Sprintf("%d:%d: %s in %s %s", p.Line, p.Col, p.Name, p.In, p.Why)
}

// Targets finds assignments to names that the spec does not have. FizzBee makes a new local of such a name in silence, so
// a misspelt variable keeps its old value and nothing is said.
//
// A state variable is one that action Init assigns outside of blocks (FizzBee keeps only those). A parameter and the
// variable of a loop or of an `any` block may be assigned as well. Any other name is a local: it must be read in the same
// action or func, and must not look like a state variable. A constant cannot be assigned. An attribute of self must be
// one that the role's Init sets.
func Targets(f *ast.File) []Problem {
	t := &targets{state: map[string]bool{}, constants: map[string]bool{}}
	for _, s := range f.GetStmts() {
		for _, w := range effects(s).writes {
			t.constants[w.name] = true
		}
	}
	for _, a := range f.GetActions() {
		if a.GetName() == "Init" {
			t.declare(a.GetBlock())
		}
	}
	for _, a := range f.GetActions() {
		t.body("action "+a.GetName(), nil, a.GetBlock())
	}
	for _, fn := range f.GetFunctions() {
		t.body("func "+fn.GetName(), fn.GetParams(), fn.GetBlock())
	}
	for _, r := range f.GetRoles() {
		t.role(r)
	}
	slices.SortStableFunc(t.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return t.problems
}

type targets struct {
	state, constants map[string]bool
	self             map[string]bool // the attributes of the role at hand; nil outside of roles
	problems         []Problem
}

// declare notes the state variables that Init's block sets.
func (t *targets) declare(init *ast.Block) {
	for _, s := range init.GetStmts() {
		if s.GetPyStmt() == nil && s.GetCallStmt() == nil && (s.GetAnyStmt() == nil || s.GetAnyStmt().GetBlock() != nil) {
			continue
		}
		for _, w := range effects(s).writes {
			if !w.self && !w.update {
				t.state[w.name] = true
			}
		}
	}
}

func (t *targets) role(r *ast.Role) {
	t.self = map[string]bool{}
	for _, a := range r.GetActions() {
		if a.GetName() != "Init" {
			continue
		}
		for _, e := range within(a.GetBlock()) {
			for _, w := range e.writes {
				if w.self {
					t.self[w.name] = true
				}
			}
		}
	}
	for _, a := range r.GetActions() {
		t.body("action "+r.GetName()+"."+a.GetName(), nil, a.GetBlock())
	}
	for _, fn := range r.GetFunctions() {
		t.body("func "+r.GetName()+"."+fn.GetName(), fn.GetParams(), fn.GetBlock())
	}
	t.self = nil
}

// body checks one action or func.
func (t *targets) body(where string, params []*ast.Parameter, block *ast.Block) {
	all := within(block)
	declared, set, read := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range params {
		declared[p.GetName()] = true
	}
	for _, e := range all {
		for _, name := range e.declares {
			declared[name] = true
		}
		for _, name := range e.reads {
			read[name] = true
		}
		for _, w := range e.writes {
			set[w.name] = set[w.name] || !w.update && !w.self
		}
	}
	for _, e := range all {
		for _, w := range e.writes {
			w.update = w.update && !set[w.name]
			if why := t.why(w, declared, read); why != "" {
				t.problems = append(t.problems, Problem{
					Line: int(e.at.GetLine()), Col: int(e.at.GetColumn()), In: where, Name: w.String(), Why: why,
				})
			}
		}
	}
}

// why tells what is wrong with an assignment; nothing, mostly.
func (t *targets) why(w write, declared, read map[string]bool) string {
	if w.self {
		if t.self == nil || t.self[w.name] {
			return ""
		}
		return "is no attribute that the role's Init sets" + hint(w.name, t.self)
	}
	switch {
	case t.state[w.name] || declared[w.name]:
		return ""
	case t.constants[w.name]:
		return "is a constant: the checker drops the assignment"
	case w.update:
		return "is no variable of the spec" + hint(w.name, t.state)
	case !read[w.name]:
		return "is no variable of the spec, and nothing here reads it" + hint(w.name, t.state)
	case similar(w.name, t.state) != "":
		return "is a new local" + hint(w.name, t.state)
	}
	return ""
}

func hint(name string, known map[string]bool) string {
	if s := similar(name, known); s != "" {
		return fmt.Sprintf(" (is %s meant?)", s)
	}
	return ""
}
