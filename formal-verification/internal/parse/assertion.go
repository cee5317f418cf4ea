package parse

// Parses assertions.

import (
	"fmt"
	"strings"

	ast "fizz/proto"
)

// temporal are the combinations that the checker decides.
var temporal = set("always", "exists", "transition", "always eventually", "eventually always")

// assertion reads `always assertion Name:` and its like.
func (p *parser) assertion() *ast.Invariant {
	first := p.pos
	inv := &ast.Invariant{}
	for t := p.tok(); t.is("always") || t.is("eventually") || t.is("exists") || t.is("transition"); t = p.tok() {
		inv.TemporalOperators = append(inv.TemporalOperators, t.text)
		p.next()
	}
	ops := strings.Join(inv.TemporalOperators, " ")
	if !p.tok().is("assertion") {
		p.fail("assertion")
		return inv
	}
	if !temporal[ops] {
		found := fmt.Sprintf("the operators %s", ops)
		if ops == "" {
			found = "an assertion without an operator"
		}
		p.failAt(p.toks[first], found, "always, exists, transition, always eventually or eventually always")
	}
	p.next()
	inv.Name = p.name("the assertion's name")
	if at := p.pos; p.tok().is("(") {
		inv.Params = p.params()
		if n := len(inv.Params); n > 0 && (ops != "transition" || n != 2) {
			p.failAt(p.toks[at], fmt.Sprintf("%d parameters", n), "none, or two for a transition: the states before and after")
		}
	}
	body := p.pos + 1
	inv.Block = p.suite()
	inv.Block.Flow = ast.Flow_FLOW_ATOMIC
	inv.SourceInfo = p.info(first, p.pos)
	inv.PyCode = fmt.Sprintf("def %s():\n%s", inv.Name, p.lines(body))
	return inv
}

// lines is the text of the block whose first token is given, with its indentation.
func (p *parser) lines(first int) string {
	end := p.pos
	for p.err == nil && end > first && p.toks[end-1].kind <= tDedent {
		end--
	}
	return strings.TrimLeft(p.text(first, end), "\n")
}
