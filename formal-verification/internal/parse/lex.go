package parse

// The lexer: cuts a specification into tokens.

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// lexer cuts a source into tokens; indentation becomes tIndent and tDedent, as in Python.
type lexer struct {
	src       string
	pos       int
	line, col int
	toks      []token
	indents   []int
	open      []int // indices of the brackets that are open
	bad       bool
}

// lex returns the tokens of src, which begins with the line of that number. The last one is tEOF, or tBad for the
// first thing that is no token: nothing behind it is read.
func lex(src string, line int) []token {
	l := &lexer{src: src, line: line, col: 1}
	for !l.bad && l.pos < len(l.src) {
		l.wholeLine()
	}
	if l.bad {
		return l.toks
	}
	if len(l.open) > 0 {
		b := l.toks[l.open[len(l.open)-1]]
		l.fail("the end of the file", fmt.Sprintf("the closing bracket of %s in line %d", b.text, b.line))
		return l.toks
	}
	if n := len(l.toks); n > 0 && l.toks[n-1].kind != tNewline {
		l.emit(tNewline, l.pos)
	}
	for range l.indents {
		l.emit(tDedent, l.pos)
	}
	l.emit(tEOF, l.pos)
	return l.toks
}

// wholeLine reads one logical line: with open brackets it goes on over the line's end.
func (l *lexer) wholeLine() {
	width := l.spaces()
	if l.atLineEnd() {
		l.skipLineEnd()
		return
	}
	if l.indentation(width); l.bad {
		return
	}
	for !l.bad && l.pos < len(l.src) {
		l.blanks()
		if l.atLineEnd() {
			if len(l.open) > 0 && l.pos < len(l.src) {
				l.skipLineEnd()
				continue
			}
			if len(l.open) == 0 {
				l.emit(tNewline, l.pos)
				l.skipLineEnd()
			}
			return
		}
		l.one()
	}
}

// atLineEnd tells whether only a comment may still stand in this line.
func (l *lexer) atLineEnd() bool {
	return l.pos == len(l.src) || l.src[l.pos] == '\n' || l.src[l.pos] == '#'
}

func (l *lexer) skipLineEnd() {
	i := strings.IndexByte(l.src[l.pos:], '\n')
	if i < 0 {
		l.advance(len(l.src) - l.pos)
		return
	}
	l.advance(i + 1)
}

func (l *lexer) spaces() int {
	n := 0
	for l.pos+n < len(l.src) && l.src[l.pos+n] == ' ' {
		n++
	}
	l.advance(n)
	return n
}

// blanks skips what separates tokens within a line: spaces, tabs, and a backslash at the line's end.
func (l *lexer) blanks() {
	for l.pos < len(l.src) {
		switch {
		case l.src[l.pos] == ' ' || l.src[l.pos] == '\t':
			l.advance(1)
		case strings.HasPrefix(l.src[l.pos:], "\\\n"):
			l.advance(2)
		default:
			return
		}
	}
}

func (l *lexer) indentation(width int) {
	if l.src[l.pos] == '\t' {
		l.fail("a tab in the indentation", "spaces")
		return
	}
	current := 0
	if n := len(l.indents); n > 0 {
		current = l.indents[n-1]
	}
	if width > current {
		l.indents = append(l.indents, width)
		l.emit(tIndent, l.pos)
		return
	}
	for width < current {
		l.indents = l.indents[:len(l.indents)-1]
		l.emit(tDedent, l.pos)
		current = 0
		if n := len(l.indents); n > 0 {
			current = l.indents[n-1]
		}
	}
	if width != current {
		l.fail(fmt.Sprintf("an indentation of %d", width), fmt.Sprintf("one of %d, as in the block around it", current))
	}
}

func (l *lexer) one() {
	rest := l.src[l.pos:]
	c := rest[0]
	switch {
	case stringStart(rest) > 0:
		l.str(rest)
	case isLetter(c):
		l.word(rest)
	case isDigit(c):
		l.number(rest)
	case c == '`':
		l.label(rest)
	default:
		l.operator(rest)
	}
}

func (l *lexer) word(rest string) {
	n := 1
	for n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n])) {
		n++
	}
	k := tName
	if keywords[rest[:n]] {
		k = tKeyword
	}
	l.emit(k, l.pos+n)
}

// number takes the digits and letters that begin with a digit. Starlark knows whether they are a number.
func (l *lexer) number(rest string) {
	n := 1
	for n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n]) || rest[n] == '.') {
		n++
	}
	l.emit(tNumber, l.pos+n)
}

// stringStart is the length of the prefix and the first quote of a string that begins s, or 0.
// Starlark knows the prefixes r, b and rb; others make the word a name, and the string behind it is then out of place.
func stringStart(s string) int {
	n := len(s) - len(strings.TrimPrefix(strings.TrimPrefix(s, "r"), "b"))
	if n < len(s) && (s[n] == '"' || s[n] == '\'') {
		return n + 1
	}
	return 0
}

func (l *lexer) str(rest string) {
	body := stringStart(rest)
	quote := rest[body-1 : body]
	long := strings.HasPrefix(rest[body-1:], strings.Repeat(quote, 3))
	if long {
		quote = strings.Repeat(quote, 3)
		body += 2
	}
	for i := body; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && i+1 < len(rest):
			i++
			if rest[i] == '\n' && !long {
				l.fail("a line end in a string", quote)
				return
			}
		case rest[i] == '\n' && !long:
			l.fail("a string that is still open at the end of the line", quote)
			return
		case strings.HasPrefix(rest[i:], quote):
			l.emit(tString, l.pos+i+len(quote))
			return
		}
	}
	l.fail("a string that is still open at the end of the file", quote)
}

func (l *lexer) label(rest string) {
	n := strings.IndexAny(rest[1:], "`\n\\") + 1
	if n < 1 || rest[n] != '`' {
		l.fail("`", "a label and its closing ` in this line, without a backslash")
		return
	}
	if strings.TrimSpace(rest[1:n]) == "" {
		l.fail("an empty label", "a name between the backticks")
		return
	}
	l.emit(tLabel, l.pos+n+1)
}

func (l *lexer) operator(rest string) {
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			l.bracket(op)
			if !l.bad {
				l.emit(tOp, l.pos+len(op))
			}
			return
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	l.fail(fmt.Sprintf("the character %q", r), "a name, a number, a string or an operator")
}

// bracket pairs brackets as they come.
func (l *lexer) bracket(op string) {
	switch op {
	case "(", "[", "{":
		if len(l.open) == maxDepth {
			l.fail(op, fmt.Sprintf("at most %d levels in one another", maxDepth))
			return
		}
		l.open = append(l.open, len(l.toks))
	case ")", "]", "}":
		n := len(l.open)
		if n == 0 {
			l.fail(op, "its opening bracket before it")
			return
		}
		b := &l.toks[l.open[n-1]]
		if closing[b.text] != op {
			l.fail(op, fmt.Sprintf("%s, which closes %s in line %d", closing[b.text], b.text, b.line))
			return
		}
		b.match = len(l.toks)
		l.open = l.open[:n-1]
	}
}

var closing = map[string]string{"(": ")", "[": "]", "{": "}"}

// emit adds the token from the current position to end and goes there.
func (l *lexer) emit(k kind, end int) {
	l.toks = append(l.toks, token{kind: k, text: l.src[l.pos:end], start: l.pos, end: end, line: l.line, col: l.col})
	l.advance(end - l.pos)
}

func (l *lexer) fail(found, want string) {
	l.bad = true
	l.toks = append(l.toks, token{kind: tBad, text: found, want: want, start: l.pos, end: l.pos, line: l.line, col: l.col})
}

func (l *lexer) advance(n int) {
	for _, r := range l.src[l.pos : l.pos+n] {
		if r == '\n' {
			l.line++
			l.col = 1
			continue
		}
		l.col++
	}
	l.pos += n
}

// isLetter: ASCII only, so that two names which look alike are alike.
func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
