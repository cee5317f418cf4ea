package parse

// Parses choices: `any` and `oneof`.

import (
	"fmt"

	ast "fizz/proto"
)

// anyBlock reads `any x in xs:` and its block; oneof is another word for any.
func (p *parser) anyBlock() *ast.AnyStmt {
	first := p.pos
	p.next()
	s := &ast.AnyStmt{LoopVars: []string{p.name("the name of the one variable that is chosen")}}
	p.expect("in")
	s.IterExpr = p.test()
	s.PyExpr = s.IterExpr.PyExpr
	s.Block = p.suite()
	s.SourceInfo = p.info(first, p.pos)
	return s
}

// choice reads `x = oneof xs if condition`, with `fair` or `fair<level>` before oneof as one likes, and any for oneof.
// Nil when something else stands here; then nothing is read.
func (p *parser) choice() *ast.AnyStmt {
	first := p.pos
	if !p.ahead(1).is("=") {
		return nil
	}
	word := p.ahead(2)
	if !word.is("fair") && !word.is("oneof") && !word.is("any") {
		return nil
	}
	s := &ast.AnyStmt{LoopVars: []string{p.name("the name of the one variable that is chosen")}}
	p.expect("=")
	s.Fairness = p.fairness()
	switch word := p.tok(); {
	case p.accept("any"):
		if p.tok().is("(") {
			p.failAt(word, "any(", "oneof for a choice, or brackets around a call of any, which FizzBee takes for a choice here")
		}
	case p.accept("oneof"):
	default:
		p.fail("oneof")
	}
	s.IterExpr, s.ConditionExpr = p.filtered()
	s.PyExpr = s.IterExpr.PyExpr
	if s.ConditionExpr != nil {
		s.Condition = s.ConditionExpr.PyExpr
	}
	s.SourceInfo = p.info(first, p.pos)
	return s
}

// filtered reads an expression and the condition behind `if` or `:`. A conditional expression, with its else, is
// part of the first.
func (p *parser) filtered() (xs, cond *ast.Expr) {
	whole := p.upTo(":", ",", ";")
	if at := p.filter(whole); at > 0 {
		return p.code(expr{whole.first, at}), p.code(expr{at + 1, whole.end})
	}
	xs = p.code(whole)
	if p.accept(":") {
		cond = p.test()
	}
	return xs, cond
}

// filter finds the first `if` of a choice outside of brackets that has no else of its own. 0: there is none.
func (p *parser) filter(x expr) int {
	found := 0
	for i := x.first; i < x.end; i++ {
		switch t := p.toks[i]; {
		case t.match > 0:
			i = t.match
		case t.is("if") && found > 0:
			return found // the condition itself is a conditional expression
		case t.is("if"):
			found = i
		case t.is("else"):
			found = 0
		}
	}
	return found
}

// fairness reads fair, fair<weak> or fair<strong>; nil when none stands here.
func (p *parser) fairness() *ast.Fairness {
	first := p.pos
	if !p.accept("fair") {
		return nil
	}
	f := &ast.Fairness{Level: ast.FairnessLevel_FAIRNESS_LEVEL_WEAK}
	if p.accept("<") {
		t := p.tok()
		switch p.name("weak or strong"); t.text {
		case "weak":
		case "strong":
			f.Level = ast.FairnessLevel_FAIRNESS_LEVEL_STRONG
		default:
			p.failAt(t, fmt.Sprintf("the fairness %s", t.text), "weak or strong")
		}
		p.expect(">")
	}
	f.SourceInfo = p.info(first, p.pos)
	return f
}
