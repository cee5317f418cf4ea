// Package parse reads FizzBee specs (.fizz) into the syntax tree that FizzBee's checker runs.
//
// It is strict: what it does not know is an error with its place, what was found there and what was expected.
// FizzBee's own parser repairs such things in silence, so a misspelt assertion could vanish.
package parse

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	ast "fizz/proto"
)

// MaxSize is how many bytes a spec may have.
const MaxSize = 1 << 20

// maxDepth is how many brackets or blocks may be in one another, and how many operators in a row.
const maxDepth = 64

// File parses a spec. The error, if any, is a *Error.
func File(name string, src []byte) (*ast.File, error) {
	text, err := readable(name, src)
	if err != nil {
		return nil, err
	}
	front, err := frontMatter(name, text)
	if err != nil {
		return nil, err
	}
	p := &parser{file: name, src: text[front.end:], toks: lex(text[front.end:], front.lines+1)}
	f := p.spec()
	p.unique(f)
	if p.err != nil {
		return nil, p.err
	}
	f.SourceInfo.FileName = filepath.Base(name)
	f.FrontMatter = &ast.FrontMatter{Yaml: front.yaml}
	return f, nil
}

// readable refuses what no spec is made of, and makes all line ends alike.
func readable(name string, src []byte) (string, error) {
	if len(src) > MaxSize {
		return "", &Error{File: name, Line: 1, Col: 1, Found: fmt.Sprintf("%d bytes", len(src)), Want: fmt.Sprintf("at most %d", MaxSize)}
	}
	text := strings.ReplaceAll(string(src), "\r\n", "\n")
	line, col := 1, 1
	for i, r := range text {
		if r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t' {
			_, size := utf8.DecodeRuneInString(text[i:])
			if r < ' ' || size == 1 {
				return "", &Error{File: name, Line: line, Col: col, Found: fmt.Sprintf("the byte 0x%02x", text[i]), Want: "text in UTF-8 without control characters"}
			}
		}
		col++
		if r == '\n' {
			line, col = line+1, 1
		}
	}
	return text, nil
}

// parser walks the tokens. After the first error it stands on an end-of-file token for good, so that every rule ends.
type parser struct {
	file  string
	src   string
	toks  []token
	pos   int
	depth int
	loops int // loops around the current statement
	run   int // operators and reserved words in a row, up to the current token
	err   *Error
}

func (p *parser) tok() token {
	if p.err != nil {
		return token{kind: tEOF}
	}
	return p.toks[p.pos]
}

func (p *parser) ahead(n int) token {
	if p.err != nil || p.pos+n >= len(p.toks) {
		return token{kind: tEOF}
	}
	return p.toks[p.pos+n]
}

func (p *parser) next() {
	if p.err == nil && p.pos < len(p.toks)-1 {
		p.pos++
	}
}

// fail notes that the current token is not what was wanted.
func (p *parser) fail(want string) { p.failAt(p.tok(), "", want) }

// failAt notes the first error; found is described by the token when it is empty.
func (p *parser) failAt(t token, found, want string) {
	if p.err != nil {
		return
	}
	if t.kind == tBad {
		found, want = t.text, t.want
	}
	if found == "" {
		found = t.describe()
	}
	p.err = &Error{File: p.file, Line: t.line, Col: t.col, Found: found, Want: want}
}

// accept takes the keyword or operator when it stands here.
func (p *parser) accept(word string) bool {
	if !p.tok().is(word) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(word string) {
	if !p.accept(word) {
		p.fail(word)
	}
}

// name takes an identifier; what says which one is wanted.
func (p *parser) name(what string) string {
	t := p.tok()
	if t.kind == tKeyword {
		p.failAt(t, fmt.Sprintf("%s, which is a reserved word", t.text), what)
		return ""
	}
	if t.kind != tName {
		p.fail(what)
		return ""
	}
	p.next()
	return t.text
}

func (p *parser) endLine() {
	if p.tok().is(";") {
		p.fail("one statement in a line")
		return
	}
	if p.tok().kind != tNewline {
		p.fail("the end of the line")
		return
	}
	p.next()
}

// deeper counts nesting; the caller must call p.shallower when it was true.
func (p *parser) deeper() bool {
	if p.depth >= maxDepth {
		p.failAt(p.tok(), "", fmt.Sprintf("at most %d levels in one another", maxDepth))
		return false
	}
	p.depth++
	return p.err == nil
}

func (p *parser) shallower() { p.depth-- }
