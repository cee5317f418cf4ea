package parse

// The part of the lexer that reads strings and numbers.

import (
	"regexp"
	"strings"
)

// stringStart is the length of the prefix and the first quote of a string that begins s, or 0.
// Starlark knows the prefixes r, b and rb; others make the word a name, and the string behind it is then out of place.
func stringStart(s string) int {
	n := 0
	for _, prefix := range []string{"rb", "r", "b"} {
		if strings.HasPrefix(s, prefix) {
			n = len(prefix)
			break
		}
	}
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

var number = regexp.MustCompile(`^(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|` +
	`(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)`)

func (l *lexer) number(rest string) {
	n := len(number.FindString(rest))
	if n == 0 || n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n])) {
		end := n
		for end < len(rest) && (isLetter(rest[end]) || isDigit(rest[end])) {
			end++
		}
		l.fail(clip(rest[:end]), "a number as Starlark writes it (no leading zeros, no letters behind it)")
		return
	}
	l.emit(tNumber, l.pos+n)
}
