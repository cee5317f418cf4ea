package parse

// Cuts the text of tokens out of the source, for the syntax tree.

import (
	"strings"
	"unicode/utf8"

	ast "fizz/proto"
)

// text is the source from the token first to before the token end, as it stands.
func (p *parser) text(first, end int) string {
	if p.err != nil || end <= first {
		return ""
	}
	return p.src[p.toks[first].start:p.toks[end-1].end]
}

// info is where the tokens from first to before end stand.
func (p *parser) info(first, end int) *ast.SourceInfo {
	if p.err != nil || end <= first {
		return &ast.SourceInfo{}
	}
	for end-1 > first && p.toks[end-1].kind <= tDedent {
		end-- // line ends and dedents have no text
	}
	a, z := p.toks[first], p.toks[end-1]
	line, col := z.line, z.col-1
	if i := strings.LastIndexByte(z.text, '\n'); i >= 0 {
		line, col = line+strings.Count(z.text, "\n"), 0
		z.text = z.text[i+1:]
	}
	return &ast.SourceInfo{
		Start: &ast.Position{Line: int32(a.line), Column: int32(a.col)},
		End:   &ast.Position{Line: int32(line), Column: int32(col + utf8.RuneCountInString(z.text))},
	}
}

// code is an expression as the checker wants it: its text and where it stands.
func (p *parser) code(x expr) *ast.Expr {
	p.starlarkExpr(x.first, x.end)
	return p.raw(x)
}

// raw is code that is no expression by itself, such as name=value.
func (p *parser) raw(x expr) *ast.Expr {
	return &ast.Expr{PyExpr: p.text(x.first, x.end), SourceInfo: p.info(x.first, x.end)}
}
