package parse

// Finds which names each statement reads and which it assigns, for the check of assignments in targets.go.

import (
	ast "fizz/proto"
	"go.starlark.net/syntax"
)

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
