package parse

// Finds where expressions end. Starlark's own parser reads what is in them (starlark.go).

import (
	"fmt"
	"slices"

	ast "fizz/proto"
)

// expr is an expression: the tokens from first to before end.
type expr struct{ first, end int }

// inExpr are the reserved words that an expression may have, and inDef those that a function in Python may have besides.
var (
	inExpr = set("or", "and", "not", "if", "else", "in", "for", "lambda", "None", "True", "False")
	inDef  = set("def", "return", "elif", "pass", "break", "continue")
)

// upTo takes an expression: all tokens up to the end of the line, to a bracket that closes one before the expression, or to one of the
// operators stops outside of brackets. The colon and the commas of a lambda stop nothing.
func (p *parser) upTo(stops ...string) expr {
	x := expr{first: p.pos}
	open, lambdas := 0, 0
	for p.err == nil {
		t := p.tok()
		switch {
		case t.is("lambda") && open == 0:
			lambdas++
		case lambdas > 0 && open == 0 && t.is(":"):
			lambdas--
		case lambdas > 0 && open == 0 && t.is(","):
		case t.is("("), t.is("["), t.is("{"):
			open++
		case open > 0 && (t.is(")") || t.is("]") || t.is("}")):
			open--
		case open == 0 && (t.kind < tName || t.is(")") || t.is("]") || t.is("}") || t.kind == tOp && slices.Contains(stops, t.text)):
			if x.end = p.pos; x.end == x.first {
				p.fail("an expression")
			}
			return x
		}
		p.part(inExpr)
	}
	return x
}

// part takes one token of an expression or of a function in Python. words are the reserved words that it may be.
func (p *parser) part(words ...map[string]bool) {
	t := p.tok()
	call := (t.is("any") || t.is("print")) && p.ahead(1).is("(") // builtins, though reserved
	known := t.kind != tKeyword || call
	for _, w := range words {
		known = known || w[t.text]
	}
	if p.run++; t.kind != tOp && t.kind != tKeyword || t.is(")") || t.is("]") || t.is("}") {
		p.run = 0
	}
	switch {
	case t.kind == tLabel || t.kind == tBad:
		p.fail("an expression")
	case p.run > maxDepth:
		p.fail(fmt.Sprintf("at most %d operators in a row", maxDepth))
	case !known:
		p.failAt(t, fmt.Sprintf("%s, which is a reserved word", t.text), "an expression")
	}
	p.next()
}

// test takes one expression that is no list with commas.
func (p *parser) test() *ast.Expr { return p.code(p.upTo(":", ",", ";")) }

// arguments takes the arguments of a call.
func (p *parser) arguments() []*ast.Argument {
	var args []*ast.Argument
	p.expect("(")
	for p.err == nil && !p.tok().is(")") {
		x := p.raw(p.upTo(","))
		args = append(args, &ast.Argument{PyExpr: x.PyExpr, Expr: x, SourceInfo: x.SourceInfo})
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return args
}
