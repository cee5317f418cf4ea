package parse

// Finds which names each statement reads and which it assigns, for the check of assignments in targets.go.

import ast "fizz/proto"

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

// names are the variables that an expression mentions.
func names(code string) []string {
	toks := lex(code, 1)
	var found []string
	for i, t := range toks {
		named := i+1 < len(toks) && toks[i+1].is("=")
		if t.kind == tName && (i == 0 || !toks[i-1].is(".")) && !named {
			found = append(found, t.text)
		}
	}
	return found
}

// code reads a statement that Starlark runs.
func (e *effect) code(code string) {
	p := &parser{src: code, toks: lex(code, 1)}
	if p.tok().is("def") {
		return
	}
	x := p.exprList()
	op := p.tok()
	if p.err != nil || op.kind != tOp {
		e.expr(code)
		return
	}
	e.target(p, x, op.text != "=")
	e.expr(code[op.end:])
}

// target notes what an assignment changes, and what it reads to find its place.
func (e *effect) target(p *parser, x expr, update bool) {
	switch x.shape {
	case nameShape:
		e.writes = append(e.writes, write{name: x.name, update: update})
	case listShape:
		for _, part := range x.parts {
			e.target(p, part, update)
		}
	case attrShape:
		if of := x.parts[0]; of.shape == nameShape && of.name == "self" {
			e.writes = append(e.writes, write{name: p.toks[x.end-1].text, self: true, update: update})
			return
		}
		e.expr(p.text(x.first, x.end))
	default:
		e.expr(p.text(x.first, x.end))
	}
}
