package parse

// Finds assignments to names that a specification does not have, for example to a misspelt variable.

import (
	"cmp"
	"fmt"
	"slices"

	ast "fizz/proto"
	"go.starlark.net/syntax"
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

// effect is what one statement does with names.
type effect struct {
	at       *ast.Position
	writes   []write
	declares []string // by a loop or a choice with a block
	reads    []string
}

type write struct {
	name   string
	self   bool // an attribute of self
	update bool // x += 1 needs an x
}

func (w write) String() string {
	if w.self {
		return "self." + w.name
	}
	return w.name
}

// within are the effects of a block's statements, the nested ones too.
func within(b *ast.Block) []effect {
	var all []effect
	for _, s := range b.GetStmts() {
		all = append(all, effects(s))
		for _, inner := range blocks(s) {
			all = append(all, within(inner)...)
		}
	}
	return all
}

func blocks(s *ast.Statement) []*ast.Block {
	var bs []*ast.Block
	for _, br := range s.GetIfStmt().GetBranches() {
		bs = append(bs, br.GetBlock())
	}
	return append(bs, s.GetBlock(), s.GetForStmt().GetBlock(), s.GetWhileStmt().GetBlock(), s.GetAnyStmt().GetBlock())
}

// effects reads a statement without the blocks in it.
func effects(s *ast.Statement) effect {
	e := effect{at: s.GetSourceInfo().GetStart()}
	for _, br := range s.GetIfStmt().GetBranches() {
		e.expr(br.GetCondition())
	}
	e.expr(s.GetWhileStmt().GetPyExpr())
	e.expr(s.GetReturnStmt().GetPyExpr())
	e.expr(s.GetRequireStmt().GetCondition())
	e.expr(s.GetForStmt().GetPyExpr())
	e.declares = append(e.declares, s.GetForStmt().GetLoopVars()...)
	if a := s.GetAnyStmt(); a != nil {
		e.choice(a)
	}
	if c := s.GetCallStmt(); c != nil {
		for _, name := range c.GetVars() {
			e.writes = append(e.writes, write{name: name})
		}
		if c.GetReceiver() != "" {
			e.reads = append(e.reads, c.GetReceiver())
		}
		for _, arg := range c.GetArgs() {
			e.expr(arg.GetPyExpr())
		}
	}
	if py := s.GetPyStmt(); py != nil {
		e.code(py.GetCode())
	}
	return e
}

func (e *effect) choice(a *ast.AnyStmt) {
	e.expr(a.GetPyExpr())
	// The condition's mention of the variable is no use of what was chosen.
	for _, name := range names(a.GetCondition()) {
		if name != a.GetLoopVars()[0] {
			e.reads = append(e.reads, name)
		}
	}
	if a.GetBlock() != nil {
		e.declares = append(e.declares, a.GetLoopVars()...)
		return
	}
	for _, name := range a.GetLoopVars() {
		e.writes = append(e.writes, write{name: name})
	}
}

func (e *effect) expr(code string) { e.reads = append(e.reads, names(code)...) }

// names are the variables that an expression, or the arguments of a call, mention.
func names(code string) []string {
	x, err := dialect.ParseExpr("", "f("+code+"\n)", 0)
	call, is := x.(*syntax.CallExpr)
	if err != nil || !is {
		return nil // the parser has refused it
	}
	var found []string
	for _, arg := range call.Args {
		found = append(found, mentioned(arg)...)
	}
	return found
}

// mentioned are the variables in a piece of Starlark. The name of an attribute or of an argument is none.
func mentioned(in syntax.Node) []string {
	var found []string
	syntax.Walk(in, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Ident:
			found = append(found, n.Name)
		case *syntax.DotExpr:
			found = append(found, mentioned(n.X)...)
			return false
		case *syntax.BinaryExpr:
			if n.Op == syntax.EQ {
				found = append(found, mentioned(n.Y)...)
				return false
			}
		}
		return true
	})
	return found
}

// code reads a statement that Starlark runs.
func (e *effect) code(code string) {
	f, err := dialect.Parse("", code, 0)
	if err != nil {
		return // the parser has refused it
	}
	for _, s := range f.Stmts {
		switch s := s.(type) {
		case *syntax.AssignStmt:
			e.target(s.LHS, s.Op != syntax.EQ)
			e.reads = append(e.reads, mentioned(s.RHS)...)
		case *syntax.ExprStmt:
			e.reads = append(e.reads, mentioned(s.X)...)
		}
	}
}

// target notes what an assignment changes, and what it reads to find its place.
func (e *effect) target(x syntax.Expr, update bool) {
	switch x := x.(type) {
	case *syntax.Ident:
		e.writes = append(e.writes, write{name: x.Name, update: update})
		return
	case *syntax.ParenExpr:
		e.target(x.X, update)
		return
	case *syntax.ListExpr:
		e.targets(x.List, update)
		return
	case *syntax.TupleExpr:
		e.targets(x.List, update)
		return
	case *syntax.DotExpr:
		if of, is := x.X.(*syntax.Ident); is && of.Name == "self" {
			e.writes = append(e.writes, write{name: x.Name.Name, self: true, update: update})
			return
		}
	}
	e.reads = append(e.reads, mentioned(x)...)
}

func (e *effect) targets(xs []syntax.Expr, update bool) {
	for _, x := range xs {
		e.target(x, update)
	}
}
