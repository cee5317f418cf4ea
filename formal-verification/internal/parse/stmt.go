package parse

// Parses statements with blocks: `if`, `for`, `while` and the flow modifiers, such as `atomic`.

import (
	"fmt"
	"strings"

	ast "fizz/proto"
)

// suite reads the block behind a colon: one statement in the same line, or indented lines.
func (p *parser) suite() *ast.Block {
	p.expect(":")
	first := p.pos
	b := &ast.Block{}
	if !p.deeper() {
		return b
	}
	defer p.shallower()
	if p.tok().kind == tNewline {
		p.indented(func() {
			if s := p.stmt(); s != nil {
				b.Stmts = append(b.Stmts, s)
			}
		})
	} else if s := p.simple(); s != nil {
		b.Stmts = append(b.Stmts, s)
	}
	if len(b.Stmts) == 0 {
		p.failAt(p.toks[first], "a block without a statement", "one, if only pass")
	}
	b.SourceInfo = p.info(first, p.pos)
	// FizzBee has no block that holds but a block: the inner one takes its place.
	if len(b.Stmts) == 1 && b.Stmts[0].Block != nil {
		if b.Stmts[0].Label != "" {
			p.failAt(p.toks[first], "a label on a block that is alone in its block", "it on a statement: FizzBee loses it here")
		}
		return b.Stmts[0].Block
	}
	return b
}

func (p *parser) indented(item func()) {
	p.next()
	if p.tok().kind != tIndent {
		p.fail("an indented block")
		return
	}
	p.next()
	for p.err == nil && p.tok().kind != tDedent {
		item()
	}
	if p.err == nil {
		p.next()
	}
}

// stmt reads one statement with its label; nil stands for a comment in quotes.
func (p *parser) stmt() *ast.Statement {
	first, label := p.pos, ""
	if t := p.tok(); t.kind == tLabel {
		label = strings.Trim(t.text, "`")
		if p.next(); p.tok().kind == tNewline {
			p.next()
		}
		if k := p.tok().kind; k == tLabel || k == tDedent {
			p.fail("the statement that the label is for")
			return nil
		}
	}
	s := p.unlabelled()
	if s == nil {
		if label != "" {
			p.failAt(p.toks[first], "a label on a comment", "one on a statement")
		}
		return nil
	}
	s.Label = label
	s.SourceInfo = p.info(first, p.pos)
	return s
}

func (p *parser) unlabelled() *ast.Statement {
	t := p.tok()
	switch {
	case t.is("if"):
		return &ast.Statement{IfStmt: p.ifStmt()}
	case t.is("for"):
		return &ast.Statement{ForStmt: p.forStmt(ast.Flow_FLOW_UNKNOWN)}
	case t.is("while"):
		return &ast.Statement{WhileStmt: p.whileStmt(ast.Flow_FLOW_UNKNOWN)}
	case t.is("any"), t.is("oneof") && !p.ahead(1).is(":"):
		return &ast.Statement{AnyStmt: p.anyBlock()}
	case t.is("fair"):
		p.fail("a statement (fairness goes with an assignment: x = fair oneof ...)")
		return nil
	case t.is("elif"), t.is("else"):
		p.fail("a statement (its if must stand right before it, with the same indentation)")
		return nil
	case flows[t.text] != ast.Flow_FLOW_UNKNOWN && t.kind == tKeyword:
		return p.flowStmt()
	}
	return p.simple()
}

var flows = map[string]ast.Flow{
	"atomic":   ast.Flow_FLOW_ATOMIC,
	"serial":   ast.Flow_FLOW_SERIAL,
	"parallel": ast.Flow_FLOW_PARALLEL,
	"oneof":    ast.Flow_FLOW_ONEOF,
}

// flow takes a flow modifier, if one stands here.
func (p *parser) flow() ast.Flow {
	t := p.tok()
	if t.kind != tKeyword || flows[t.text] == ast.Flow_FLOW_UNKNOWN {
		return ast.Flow_FLOW_UNKNOWN
	}
	p.next()
	return flows[t.text]
}

func (p *parser) flowStmt() *ast.Statement {
	word := p.tok()
	flow := p.flow()
	switch t := p.tok(); {
	case t.is(":"):
		b := p.suite()
		if b.Flow != ast.Flow_FLOW_UNKNOWN {
			p.failAt(word, fmt.Sprintf("%s: with nothing but another such block in it", word.text), "one of them: FizzBee loses the inner one's flow")
		}
		b.Flow = flow
		return &ast.Statement{Block: b}
	case t.is("for") && flow != ast.Flow_FLOW_ONEOF:
		return &ast.Statement{ForStmt: p.forStmt(flow)}
	case t.is("while") && (flow == ast.Flow_FLOW_ATOMIC || flow == ast.Flow_FLOW_SERIAL):
		return &ast.Statement{WhileStmt: p.whileStmt(flow)}
	case t.is("action"), t.is("func"), t.is("fair"):
		p.fail(fmt.Sprintf(": behind %s (actions and functions cannot stand in a block)", word.text))
	default:
		p.fail(fmt.Sprintf(": or a loop that may be %s", word.text))
	}
	return nil
}

func (p *parser) ifStmt() *ast.IfStmt {
	first := p.pos
	s := &ast.IfStmt{}
	for word := "if"; ; word = "elif" {
		at := p.pos
		p.expect(word)
		cond := p.test()
		s.Branches = append(s.Branches, p.branch(at, cond))
		if !p.tok().is("elif") {
			break
		}
	}
	if at := p.pos; p.accept("else") {
		s.Branches = append(s.Branches, p.branch(at, &ast.Expr{PyExpr: "True"}))
	}
	s.SourceInfo = p.info(first, p.pos)
	return s
}

func (p *parser) branch(at int, cond *ast.Expr) *ast.Branch {
	block := p.suite()
	return &ast.Branch{Condition: cond.PyExpr, ConditionExpr: cond, Block: block, SourceInfo: p.info(at, p.pos)}
}

func (p *parser) forStmt(flow ast.Flow) *ast.ForStmt {
	first := p.pos
	p.expect("for")
	s := &ast.ForStmt{Flow: flow, LoopVars: []string{p.name("the name of the loop's one variable")}}
	p.expect("in")
	s.IterExpr = p.test()
	s.PyExpr = s.IterExpr.PyExpr
	s.Block = p.loop()
	s.SourceInfo = p.info(first, p.pos)
	return s
}

func (p *parser) whileStmt(flow ast.Flow) *ast.WhileStmt {
	first := p.pos
	p.expect("while")
	s := &ast.WhileStmt{Flow: flow}
	s.IterExpr = p.test()
	s.PyExpr = s.IterExpr.PyExpr
	s.Block = p.loop()
	s.SourceInfo = p.info(first, p.pos)
	return s
}

// loop is a suite in which break and continue may stand.
func (p *parser) loop() *ast.Block {
	p.loops++
	defer func() { p.loops-- }()
	return p.suite()
}
