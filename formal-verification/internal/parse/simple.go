package parse

// Parses simple statements, which fill one line: assignments, calls, `return`.

import (
	"fmt"
	"strings"

	ast "fizz/proto"
	"go.starlark.net/syntax"
)

// simple reads a statement of one logical line; nil stands for a comment in quotes.
func (p *parser) simple() *ast.Statement {
	first := p.pos
	s := p.small()
	p.endLine()
	if s != nil {
		s.SourceInfo = p.info(first, p.pos)
	}
	return s
}

func (p *parser) small() *ast.Statement {
	first, t := p.pos, p.tok()
	switch {
	case t.is("pass"):
		p.next()
		return &ast.Statement{PyStmt: &ast.PyStmt{Code: "pass", SourceInfo: p.info(first, p.pos)}}
	case t.is("break"), t.is("continue"):
		return p.jump()
	case t.is("require"):
		p.next()
		cond := p.test()
		return &ast.Statement{RequireStmt: &ast.RequireStmt{Condition: cond.PyExpr, ConditionExpr: cond, SourceInfo: p.info(first, p.pos)}}
	case t.is("return"):
		return &ast.Statement{ReturnStmt: p.returnStmt()}
	case t.kind == tKeyword && !startsExpr[t.text]:
		p.failAt(t, fmt.Sprintf("%s, which is a reserved word", t.text), "a statement")
		return nil
	case t.kind == tIndent:
		p.fail("a statement as far in as the one before it")
		return nil
	case t.kind == tString && p.ahead(1).kind == tNewline: // a comment in quotes
		if !strings.HasPrefix(t.text, `"""`) && !strings.HasPrefix(t.text, "'''") {
			p.fail("a statement (a comment in quotes has three of them)")
		}
		p.next()
		return nil
	}
	if call := p.callStmt(); call != nil {
		return &ast.Statement{CallStmt: call}
	}
	if choice := p.choice(); choice != nil {
		return &ast.Statement{AnyStmt: choice}
	}
	return p.assignment()
}

// startsExpr are the reserved words with which an expression can begin.
var startsExpr = set("None", "True", "False", "not", "lambda", "any", "print")

func (p *parser) jump() *ast.Statement {
	first, t := p.pos, p.tok()
	if p.loops == 0 {
		p.fail("it in a loop only")
		return nil
	}
	p.next()
	if t.is("break") {
		return &ast.Statement{BreakStmt: &ast.BreakStmt{SourceInfo: p.info(first, p.pos)}}
	}
	return &ast.Statement{ContinueStmt: &ast.ContinueStmt{SourceInfo: p.info(first, p.pos)}}
}

func (p *parser) returnStmt() *ast.ReturnStmt {
	first := p.pos
	p.expect("return")
	s := &ast.ReturnStmt{}
	if p.tok().kind != tNewline {
		s.Expr = p.code(p.upTo(";"))
		s.PyExpr = s.Expr.PyExpr
	}
	s.SourceInfo = p.info(first, p.pos)
	return s
}

// callStmt reads a call that fills its line, `f(x)`, `v = f(x)` or `v = r.f(x)`: the checker runs it itself, since f may
// be a func of the spec. Nil when something else stands here; then nothing is read.
func (p *parser) callStmt() *ast.CallStmt {
	first, s := p.pos, &ast.CallStmt{}
	n := 0
	if p.ahead(n).kind == tName && p.ahead(n+1).is("=") {
		s.Vars = []string{p.ahead(n).text}
		n += 2
	}
	if p.ahead(n).kind == tName && p.ahead(n+1).is(".") {
		s.Receiver = p.ahead(n).text
		n += 2
	}
	if p.ahead(n).kind != tName || !p.ahead(n+1).is("(") {
		return nil
	}
	if end := p.ahead(n+1).match + 1; p.toks[end].kind != tNewline && !p.toks[end].is(";") {
		return nil
	}
	s.Name = p.ahead(n).text
	p.pos += n + 1
	s.Args = p.arguments()
	p.starlarkCode(first, p.pos)
	s.SourceInfo = p.info(first, p.pos)
	return s
}

// assignment reads what Starlark itself runs: an assignment, or an expression that does something.
func (p *parser) assignment() *ast.Statement {
	first, at := p.pos, p.tok()
	p.upTo(";")
	stmt := p.starlarkCode(first, p.pos)
	if x, is := stmt.(*syntax.ExprStmt); is {
		switch x.X.(type) {
		case *syntax.CallExpr, *syntax.Comprehension:
		default:
			p.failAt(at, "an expression without an effect", "an assignment, a call or another statement")
		}
	}
	return &ast.Statement{PyStmt: &ast.PyStmt{Code: p.text(first, p.pos), SourceInfo: p.info(first, p.pos)}}
}
