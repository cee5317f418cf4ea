package parse

// The error of the parser, with its line and column.

import (
	"fmt"
	"strconv"
)

// Error says where a spec stops being one. Line and Col count from 1; Col counts characters, not bytes.
type Error struct {
	File      string
	Line, Col int
	Found     string // what stands there
	Want      string // what may stand there
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: found %s, expected %s", e.File, e.Line, e.Col, e.Found, e.Want)
}

// describe names a token as a reader sees it.
func (t token) describe() string {
	switch t.kind {
	case tEOF:
		return "the end of the file"
	case tNewline:
		return "the end of the line"
	case tIndent:
		return "a deeper indentation"
	case tDedent:
		return "the end of the block"
	case tNumber:
		return "the number " + clip(t.text)
	case tName:
		return "the name " + clip(t.text)
	case tKeyword:
		return "the keyword " + t.text
	case tString:
		return "the string " + clip(t.text)
	case tLabel:
		return "the label " + clip(t.text)
	default:
		return t.text
	}
}

// clip keeps a message on one line.
func clip(s string) string {
	const longest = 40
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest]) + "..."
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}
