package parse

// Parses the top level of a specification: actions, functions, assertions, constants.

import (
	"fmt"

	ast "fizz/proto"
)

func (p *parser) spec() *ast.File {
	f := &ast.File{SourceInfo: p.info(0, len(p.toks))}
	for p.err == nil && p.tok().kind != tEOF {
		t := p.tok()
		switch {
		case t.is("role"), t.is("symmetric"), t.is("@"):
			f.Roles = append(f.Roles, p.role())
		case t.is("compose"):
			if f.Composition != nil {
				p.fail("one compose in a file")
				break
			}
			first := p.pos
			f.Composition = &ast.Composition{Specs: p.entries("compose"), SourceInfo: p.info(first, p.pos)}
		case t.is("refine"):
			first := p.pos
			specs := p.entries("refine")
			f.Refinements = append(f.Refinements, &ast.Refinement{Specs: specs, SourceInfo: p.info(first, p.pos)})
		default:
			if !p.member(&members{&f.Actions, &f.Functions, &f.Invariants, &f.Stmts}) {
				p.global(f)
			}
		}
	}
	return f
}

// members are the parts that files and roles share.
type members struct {
	actions    *[]*ast.Action
	functions  *[]*ast.Function
	invariants *[]*ast.Invariant
	stmts      *[]*ast.Statement
}

// member reads an action, a function or an assertion; false when something else stands here.
func (p *parser) member(m *members) bool {
	t := p.tok()
	switch {
	case t.is("always"), t.is("eventually"), t.is("exists"), t.is("transition"), t.is("assertion"):
		*m.invariants = append(*m.invariants, p.assertion())
	case t.is("def"):
		*m.stmts = append(*m.stmts, p.pyDef())
	case t.is("action"), t.is("func"), t.is("fair"), t.kind == tKeyword && flows[t.text] != ast.Flow_FLOW_UNKNOWN:
		p.behaviour(m)
	default:
		return false
	}
	return true
}

// behaviour reads `[flow] [fairness] action Name:` or `[flow] func name(params):`.
func (p *parser) behaviour(m *members) {
	first := p.pos
	flow := p.flow()
	fair := p.fairness()
	switch {
	case p.tok().is("action"):
		a := p.action(first, flow, fair)
		if a.Name == "Init" { // the checker takes the first action of a file for it
			*m.actions = append([]*ast.Action{a}, *m.actions...)
			return
		}
		*m.actions = append(*m.actions, a)
	case fair != nil:
		p.fail("action (the order is: atomic fair action)")
	case p.tok().is("func"):
		*m.functions = append(*m.functions, p.function(first, flow))
	default:
		p.fail("action, fair or func")
	}
}

func (p *parser) action(first int, flow ast.Flow, fair *ast.Fairness) *ast.Action {
	p.expect("action")
	a := &ast.Action{Name: p.name("the action's name"), Flow: flow, Fairness: fair}
	a.Block = p.suite()
	if a.Fairness == nil {
		a.Fairness = &ast.Fairness{Level: ast.FairnessLevel_FAIRNESS_LEVEL_UNFAIR}
	}
	if a.Name == "Init" {
		a.Fairness.Level = ast.FairnessLevel_FAIRNESS_LEVEL_STRONG
		a.Flow = ast.Flow_FLOW_ATOMIC
	}
	a.Flow = settle(a.Flow, a.Block)
	a.SourceInfo = p.info(first, p.pos)
	return a
}

// settle gives a body and its owner the flow that one of them has; serial when none has.
func settle(flow ast.Flow, body *ast.Block) ast.Flow {
	if flow == ast.Flow_FLOW_UNKNOWN {
		flow = body.Flow
	}
	if flow == ast.Flow_FLOW_UNKNOWN {
		flow = ast.Flow_FLOW_SERIAL
	}
	if body.Flow == ast.Flow_FLOW_UNKNOWN {
		body.Flow = flow
	}
	return flow
}

func (p *parser) function(first int, flow ast.Flow) *ast.Function {
	p.expect("func")
	f := &ast.Function{Name: p.name("the function's name"), Params: p.params()}
	f.Block = p.suite()
	f.Flow = settle(flow, f.Block)
	f.SourceInfo = p.info(first, p.pos)
	return f
}

// params reads the parameters of a function or an assertion, in their brackets.
func (p *parser) params() []*ast.Parameter {
	var params []*ast.Parameter
	p.expect("(")
	for p.err == nil && !p.tok().is(")") {
		first := p.pos
		param := &ast.Parameter{Name: p.name("a parameter's name or )")}
		if p.accept("=") {
			param.DefaultExpr = p.test()
			param.DefaultPyExpr = param.DefaultExpr.PyExpr
		}
		param.SourceInfo = p.info(first, p.pos)
		params = append(params, param)
		if !p.accept(",") {
			break
		}
	}
	if !p.accept(")") {
		p.fail("a comma or )")
	}
	return params
}

// entries reads the named expressions of compose and refine.
func (p *parser) entries(word string) []*ast.SpecEntry {
	var specs []*ast.SpecEntry
	p.expect(word)
	p.expect(":")
	if p.tok().kind != tNewline {
		p.fail("the end of the line")
		return nil
	}
	p.indented(func() {
		first := p.pos
		e := &ast.SpecEntry{Name: p.name("the name of a spec")}
		p.expect(":")
		e.Expr = p.test()
		p.accept(",")
		e.SourceInfo = p.info(first, p.pos)
		p.endLine()
		specs = append(specs, e)
	})
	return specs
}

// global reads a statement outside of all actions: a constant, a call or a comment in quotes.
func (p *parser) global(f *ast.File) {
	t := p.tok()
	switch {
	case t.kind == tIndent:
		p.fail("no indentation here")
		return
	case t.is("init"), t.is("invariants"):
		p.failAt(t, fmt.Sprintf("%s, which FizzBee has given up", t.text), "action Init, or assertions with names")
		return
	case t.is("import"), t.is("from"), t.is("load"):
		p.failAt(t, fmt.Sprintf("%s, which the checker cannot run", t.text), "a spec in one file")
		return
	case t.kind == tKeyword:
		p.failAt(t, "", "an action, func, def, role, assertion, or a constant")
		return
	case t.kind == tLabel:
		p.fail("labels in actions and functions only")
		return
	}
	s := p.simple()
	if s != nil && s.AnyStmt != nil {
		p.failAt(t, "a choice outside of all actions", "it in action Init")
	}
	if s != nil {
		f.Stmts = append(f.Stmts, s)
	}
}
