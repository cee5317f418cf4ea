package parse

// Parses roles: groups of variables and actions, of which a specification can have several instances.

import (
	"strings"

	ast "fizz/proto"
)

func (p *parser) role() *ast.Role {
	r := &ast.Role{}
	for p.tok().is("@") {
		r.Decorators = append(r.Decorators, p.decorator())
	}
	first := p.pos
	if p.accept("symmetric") {
		r.Modifiers = []string{"symmetric"}
	}
	p.expect("role")
	r.Name = p.name("the role's name")
	p.expect(":")
	if p.tok().kind != tNewline {
		p.fail("the end of the line")
		return r
	}
	if !p.deeper() {
		return r
	}
	defer p.shallower()
	p.indented(func() {
		t := p.tok()
		if p.member(&members{&r.Actions, &r.Functions, &r.Invariants, &r.Stmts}) {
			return
		}
		if t.kind == tString && p.small() == nil { // a comment in quotes
			p.endLine()
			return
		}
		if t.is("pass") {
			p.next()
			p.endLine()
			return
		}
		p.failAt(t, "", "an action, func, def or assertion of the role (its state is set in its action Init)")
	})
	r.SourceInfo = p.info(first, p.pos)
	return r
}

func (p *parser) decorator() *ast.Decorator {
	first := p.pos
	p.expect("@")
	parts := []string{p.name("the decorator's name")}
	for p.accept(".") {
		parts = append(parts, p.name("the decorator's name"))
	}
	d := &ast.Decorator{Name: strings.Join(parts, ".")}
	if p.tok().is("(") {
		d.Args = p.arguments()
	}
	p.starlarkCode(first+1, p.pos)
	d.SourceInfo = p.info(first, p.pos)
	p.endLine()
	return d
}
