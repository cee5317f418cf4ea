package parse

// Reads expressions, assignments and functions in Python with Starlark's own parser.

import (
	"errors"
	"fmt"

	ast "fizz/proto"
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// dialect is the Starlark that FizzBee runs.
var dialect = &syntax.FileOptions{Set: true, GlobalReassign: true, TopLevelControl: true}

// The checker hands expressions to Starlark only when it comes to them, and stops there if it cannot read one. So Starlark reads them here,
// too.

// starlarkExpr reads the tokens from first to before end as an expression.
func (p *parser) starlarkExpr(first, end int) {
	if p.err != nil {
		return
	}
	x, err := dialect.ParseExpr(p.file, p.portion(first, end), 0)
	if err == nil {
		_, err = resolve.ExprOptions(dialect, x, anyName, anyName)
	}
	p.starlarkError(first, err)
}

// starlarkCode reads them as one statement. It returns nil if they are none.
func (p *parser) starlarkCode(first, end int) syntax.Stmt {
	if p.err != nil {
		return nil
	}
	f, err := dialect.Parse(p.file, p.portion(first, end), 0)
	if err == nil {
		err = resolve.REPLChunk(f, anyName, anyName, anyName)
	}
	p.starlarkError(first, err)
	if p.err != nil || len(f.Stmts) != 1 {
		p.failAt(p.toks[first], "", "one statement")
		return nil
	}
	return f.Stmts[0]
}

func anyName(string) bool { return true }

func (p *parser) portion(first, end int) syntax.FilePortion {
	t := p.toks[first]
	return syntax.FilePortion{Content: []byte(p.text(first, end)), FirstLine: int32(t.line), FirstCol: int32(t.col)}
}

func (p *parser) starlarkError(first int, err error) {
	if err == nil {
		return
	}
	at, what := p.toks[first], err.Error()
	var syn syntax.Error
	var res resolve.ErrorList
	switch {
	case errors.As(err, &syn):
		at.line, at.col, what = int(syn.Pos.Line), int(syn.Pos.Col), syn.Msg
	case errors.As(err, &res) && len(res) > 0:
		at.line, at.col, what = int(res[0].Pos.Line), int(res[0].Pos.Col), res[0].Msg
	}
	p.failAt(at, fmt.Sprintf("what Starlark refuses (%s)", what), "an expression that it takes")
}

// pyDef takes a function in Python, which FizzBee keeps as text: it is pure and cannot see the state.
func (p *parser) pyDef() *ast.Statement {
	first := p.pos
	for p.err == nil && p.tok().kind != tNewline {
		p.part(inExpr, inDef)
	}
	end := p.pos
	p.next()
	for depth := 0; p.err == nil && (depth > 0 || p.tok().kind == tIndent); {
		switch p.tok().kind {
		case tIndent:
			depth++
			p.next()
		case tDedent:
			depth--
			p.next()
		case tNewline:
			p.next()
		default:
			p.part(inExpr, inDef)
			end = p.pos
		}
	}
	p.starlarkCode(first, end)
	return &ast.Statement{
		SourceInfo: p.info(first, end),
		PyStmt:     &ast.PyStmt{Code: p.text(first, end), SourceInfo: p.info(first, end)},
	}
}
