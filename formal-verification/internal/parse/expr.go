package parse

// Parses expressions.

import "fmt"

// shape is what an expression is, as far as statements must know.
type shape uint8

const (
	other shape = iota
	nameShape
	attrShape
	indexShape
	callShape
	listShape  // a list or tuple of parts
	comprShape // a comprehension
	stringShape
)

// expr is an expression: the tokens from first to before end.
type expr struct {
	shape      shape
	name       string // nameShape
	parts      []expr // listShape: the elements; attrShape and indexShape: what it is of
	first, end int
}

// levels are the binary operators from the loosest to the tightest, as Starlark has them.
var levels = map[string]int{
	"or": 1, "and": 2,
	"==": 4, "!=": 4, "<": 4, ">": 4, "<=": 4, ">=": 4, "in": 4, "not": 4,
	"|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8,
	"+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10,
}

const (
	loosest    = 1
	negation   = 3 // of `not`
	comparison = 4 // these do not chain
)

// exprList reads expressions with commas between them; several are a tuple.
func (p *parser) exprList() expr {
	first := p.pos
	x := p.test()
	if !p.tok().is(",") {
		return x
	}
	parts := []expr{x}
	for p.accept(",") {
		parts = append(parts, p.test())
	}
	return expr{shape: listShape, parts: parts, first: first, end: p.pos}
}

// test reads one expression, conditional ones and lambdas included.
func (p *parser) test() expr {
	first := p.pos
	if p.tok().is("lambda") {
		return p.lambda()
	}
	x := p.binary(loosest)
	if !p.tok().is("if") {
		return x
	}
	if !p.deeper() {
		return x
	}
	defer p.shallower()
	p.next()
	p.binary(loosest)
	if !p.accept("else") {
		p.fail("else and the other value")
	}
	p.test()
	return expr{first: first, end: p.pos}
}

func (p *parser) lambda() expr {
	first := p.pos
	if !p.deeper() {
		return expr{}
	}
	defer p.shallower()
	p.expect("lambda")
	p.pyParams(":")
	p.expect(":")
	p.test()
	return expr{first: first, end: p.pos}
}

// binary reads operators that bind at least as tightly as level.
func (p *parser) binary(level int) expr {
	first := p.pos
	if !p.deeper() {
		return expr{}
	}
	defer p.shallower()
	var x expr
	if p.tok().is("not") && level <= negation {
		p.next()
		p.binary(negation)
		x = expr{first: first, end: p.pos}
	} else {
		x = p.unary()
	}
	compared := false
	for {
		op := p.tok()
		at, known := levels[op.text]
		if op.kind != tOp && op.kind != tKeyword || !known || at < level {
			return x
		}
		if at == comparison && compared {
			p.fail("brackets or `and`: Starlark does not chain comparisons")
			return x
		}
		compared = at == comparison
		p.next()
		if op.is("not") {
			p.expect("in")
		}
		p.binary(at + 1)
		x = expr{first: first, end: p.pos}
	}
}

func (p *parser) unary() expr {
	first := p.pos
	if t := p.tok(); t.is("-") || t.is("+") || t.is("~") {
		if !p.deeper() {
			return expr{}
		}
		defer p.shallower()
		p.next()
		p.unary()
		return expr{first: first, end: p.pos}
	}
	x := p.atom()
	for p.err == nil {
		switch {
		case p.accept("."):
			p.name("the name of an attribute")
			x = expr{shape: attrShape, parts: []expr{x}, first: first, end: p.pos}
		case p.tok().is("("):
			p.arguments()
			x = expr{shape: callShape, parts: []expr{x}, first: first, end: p.pos}
		case p.tok().is("["):
			x = p.index(x)
		default:
			return x
		}
	}
	return x
}

// index reads x[i] or x[a:b:c].
func (p *parser) index(of expr) expr {
	x := expr{shape: indexShape, parts: []expr{of}, first: of.first}
	p.expect("[")
	if !p.tok().is(":") {
		p.exprList()
	}
	for range 2 {
		if !p.accept(":") {
			break
		}
		x.shape = other // a slice cannot be assigned to
		if !p.tok().is(":") && !p.tok().is("]") {
			p.test()
		}
	}
	p.closing("]")
	x.end = p.pos
	return x
}

func (p *parser) atom() expr {
	t, first := p.tok(), p.pos
	switch {
	case t.kind == tName:
		p.next()
		return expr{shape: nameShape, name: t.text, first: first, end: p.pos}
	case t.kind == tNumber, t.is("None"), t.is("True"), t.is("False"):
		p.next()
		return expr{first: first, end: p.pos}
	case t.is("any"), t.is("print"): // builtins, though reserved
		if p.next(); !p.tok().is("(") {
			p.fail(fmt.Sprintf("( and the arguments of %s", t.text))
		}
		return expr{first: first, end: p.pos}
	case t.kind == tString:
		if p.next(); p.tok().kind == tString {
			p.fail("an operator: Starlark does not join strings that stand side by side")
		}
		return expr{shape: stringShape, first: first, end: p.pos}
	case t.is("("):
		return p.paren()
	case t.is("["):
		return p.list()
	case t.is("{"):
		return p.dict()
	case t.kind == tKeyword:
		p.failAt(t, fmt.Sprintf("%s, which is a reserved word", t.text), "an expression")
	default:
		p.fail("an expression")
	}
	return expr{}
}

// paren reads (x), () or a tuple.
func (p *parser) paren() expr {
	first := p.pos
	p.expect("(")
	if p.accept(")") {
		return expr{first: first, end: p.pos}
	}
	x := p.test()
	if p.tok().is(",") {
		x = expr{shape: listShape, parts: p.rest(x, ")")}
	} else if x.shape == stringShape || x.shape == comprShape {
		x.shape = other
	}
	p.closing(")")
	x.first, x.end = first, p.pos
	return x
}

// rest reads the other elements of a list that began with x; a comma may stand behind the last one.
func (p *parser) rest(x expr, end string) []expr {
	parts := []expr{x}
	for p.accept(",") {
		if p.tok().is(end) {
			break
		}
		parts = append(parts, p.test())
	}
	return parts
}

func (p *parser) list() expr {
	first := p.pos
	p.expect("[")
	if p.accept("]") {
		return expr{first: first, end: p.pos}
	}
	x := p.test()
	if p.tok().is("for") {
		p.comprehension()
		x = expr{shape: comprShape}
	} else {
		x = expr{shape: listShape, parts: p.rest(x, "]")}
	}
	p.closing("]")
	x.first, x.end = first, p.pos
	return x
}

func (p *parser) dict() expr {
	first := p.pos
	p.expect("{")
	for n := 0; p.err == nil && !p.tok().is("}"); n++ {
		p.test()
		if !p.tok().is(":") {
			p.fail(": and a value (Starlark has no set literals: write set([...]))")
		}
		p.next()
		p.test()
		if n == 0 && p.tok().is("for") {
			p.comprehension()
			break
		}
		if !p.accept(",") {
			break
		}
	}
	p.closing("}")
	return expr{first: first, end: p.pos}
}

func (p *parser) closing(bracket string) {
	if !p.accept(bracket) {
		p.fail(fmt.Sprintf("an operator, a comma or %s", bracket))
	}
}

// comprehension reads the for and if clauses of one.
func (p *parser) comprehension() {
	for p.err == nil {
		switch {
		case p.accept("for"):
			p.loopTargets()
			p.expect("in")
			p.binary(loosest)
		case p.accept("if"):
			p.binary(loosest)
		default:
			return
		}
	}
}

// loopTargets reads what the loops of comprehensions and of Python functions assign to.
func (p *parser) loopTargets() {
	for {
		at := p.pos
		if x := p.unary(); !x.target() {
			p.failAt(p.toks[at], "", "a name to assign to")
		}
		if !p.accept(",") {
			return
		}
	}
}

// target tells whether one may assign to the expression.
func (x expr) target() bool {
	if x.shape == listShape {
		for _, part := range x.parts {
			if !part.target() {
				return false
			}
		}
		return true
	}
	return x.shape == nameShape || x.shape == attrShape || x.shape == indexShape
}

// arguments reads the arguments of a call and returns where each stands.
func (p *parser) arguments() []expr {
	var args []expr
	p.expect("(")
	for p.err == nil && !p.tok().is(")") {
		arg := expr{first: p.pos}
		if !p.accept("*") && !p.accept("**") {
			x := p.test()
			if p.tok().is("=") && x.shape != nameShape {
				p.fail("an operator, a comma or ) (only a name can name an argument)")
			}
			if p.accept("=") {
				arg.name = x.name
				p.test()
			}
		} else {
			p.test()
		}
		arg.end = p.pos
		args = append(args, arg)
		if !p.accept(",") {
			break
		}
	}
	p.closing(")")
	return args
}
