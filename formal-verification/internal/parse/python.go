package parse

// Parses functions in Python, which a specification may contain.

import ast "fizz/proto"

// pyDef reads a function in Python, which FizzBee keeps as text: it is pure and cannot see the state.
func (p *parser) pyDef() *ast.Statement {
	first := p.pos
	p.pyFunction()
	// the text ends at the last line of the body, before the line end
	end := p.pos
	for p.err == nil && p.toks[end-1].kind <= tDedent {
		end--
	}
	p.starlarkCode(first, end)
	return &ast.Statement{
		SourceInfo: p.info(first, end),
		PyStmt:     &ast.PyStmt{Code: p.text(first, end), SourceInfo: p.info(first, end)},
	}
}

func (p *parser) pyFunction() {
	loops := p.loops
	p.loops = 0
	defer func() { p.loops = loops }()
	p.expect("def")
	p.name("the function's name")
	p.expect("(")
	p.pyParams(")")
	p.expect(")")
	p.pySuite()
}

// pyParams reads parameters up to the closing token, which it leaves.
func (p *parser) pyParams(end string) {
	for p.err == nil && !p.tok().is(end) {
		if p.accept("*") {
			if !p.tok().is(",") {
				p.name("a parameter's name")
			}
		} else {
			double := p.accept("**")
			p.name("a parameter's name")
			if !double && p.accept("=") {
				p.test()
			}
		}
		if !p.accept(",") {
			return
		}
	}
}

func (p *parser) pySuite() {
	p.expect(":")
	if !p.deeper() {
		return
	}
	defer p.shallower()
	if p.tok().kind == tNewline {
		p.indented(p.pyStmt)
		return
	}
	p.pySimple()
}

func (p *parser) pyStmt() {
	switch t := p.tok(); {
	case t.is("if"):
		p.next()
		p.test()
		p.pySuite()
		for p.accept("elif") {
			p.test()
			p.pySuite()
		}
		if p.accept("else") {
			p.pySuite()
		}
	case t.is("for"):
		p.next()
		p.loopTargets()
		p.expect("in")
		p.exprList()
		p.loops++
		p.pySuite()
		p.loops--
	case t.is("def"):
		p.pyFunction()
	default:
		p.pySimple()
	}
}

func (p *parser) pySimple() {
	switch t := p.tok(); {
	case t.is("pass"):
		p.next()
	case t.is("break"), t.is("continue"):
		p.jump()
	case t.is("return"):
		p.returnStmt()
	case t.is("while"):
		p.fail("a for loop: Starlark has no while in functions")
	case t.kind == tKeyword && !startsExpr[t.text]:
		p.fail("a statement of a Python function")
	default:
		p.assignment()
	}
	p.endLine()
}
