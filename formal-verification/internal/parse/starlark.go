package parse

// Checks the expressions and statements with Starlark's own parser.

import (
	"errors"
	"fmt"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// dialect is the Starlark that FizzBee runs.
var dialect = &syntax.FileOptions{Set: true, GlobalReassign: true, TopLevelControl: true}

// The checker hands expressions to Starlark only when it comes to them, and stops there if it cannot read one. So
// Starlark reads them here too: it also knows which escapes a string may have and in which order arguments come.

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

// starlarkCode reads them as statements.
func (p *parser) starlarkCode(first, end int) {
	if p.err != nil {
		return
	}
	f, err := dialect.Parse(p.file, p.portion(first, end), 0)
	if err == nil {
		err = resolve.REPLChunk(f, anyName, anyName, anyName)
	}
	p.starlarkError(first, err)
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
