package pipeline

// This file cuts the text of a response into clauses for the synthesizer.

import (
	"strings"
	"unicode/utf8"
)

// Limits of a clause, in runes.
const (
	// MinClause is the shortest clause. Only two clauses may be shorter: the first one of a response, because the user waits
	// for it, and the last one.
	MinClause = 12
	// MaxClause is the longest clause. A text without any clause mark is cut there.
	MaxClause = 200

	firstClause = 5  // the shortest first clause that ends at a comma
	lookahead   = 64 // how many runes after MaxClause may decide whether a clause ends before them
)

// Clauses cuts a stream of text into clauses. It returns each clause as soon as the text decides where the clause ends: at a
// Unicode sentence break (UAX 29), or at a comma or another clause mark (CJK marks too) if the clause has at least MinClause
// runes. It does not cut numbers (3.14, 1,000, 10:30), URLs, common abbreviations, and code between backticks, unless they are
// longer than MaxClause.
//
// The clauses, one after another, are the text: no rune is lost or repeated, and white space stays at the end of the clause
// before it. The clauses depend on the text alone, not on the pieces in which Push gets it. A Clauses keeps at most MaxClause
// runes and a short lookahead. The zero value is ready to use. Only one goroutine at a time may use a Clauses.
type Clauses struct {
	text    string
	started bool // at least one clause was returned
	fence   int  // number of backticks that opened the fenced code block in which the text begins; 0: none
}

// NewClauses returns a Clauses for a new text.
func NewClauses() *Clauses { return &Clauses{} }

// Push takes the next piece of text and returns the clauses that it completes. A piece may end inside a rune.
func (c *Clauses) Push(delta string) []string {
	c.text += delta
	return c.take(false)
}

// Flush returns the rest of the text as clauses. The next Push begins a new text.
func (c *Clauses) Flush() []string {
	out := c.take(true)
	*c = Clauses{}
	return out
}

// take removes and returns the clauses at the begin of the text. final: no more text follows.
func (c *Clauses) take(final bool) []string {
	var out []string
	for c.text != "" {
		n := c.next(final)
		if n == 0 {
			break
		}
		out = append(out, strings.Clone(c.text[:n]))
		c.text = c.text[n:]
		c.started = true
	}
	if len(out) > 0 {
		c.text = strings.Clone(c.text) // releases the memory of the clauses
	}
	return out
}

// next returns the length of the first clause in bytes; 0 if more text is needed to decide.
func (c *Clauses) next(final bool) int {
	window, decided := c.window(final)
	s := scan{text: window, first: !c.started, decided: decided, open: c.fence}
	n, fence := s.clause()
	if n == 0 && final {
		n, fence = len(window), 0
	}
	if n > 0 {
		c.fence = fence
	}
	return n
}

// window returns the part of the text that can decide about its first clause. decided: text after the window cannot change
// the decision.
func (c *Clauses) window(final bool) (window string, decided bool) {
	n := 0
	for i := 0; i < len(c.text); n++ {
		if n == MaxClause+lookahead {
			return c.text[:i], true
		}
		if !final && !utf8.FullRuneInString(c.text[i:]) {
			return c.text[:i], false
		}
		_, size := utf8.DecodeRuneInString(c.text[i:])
		i += size
	}
	return c.text, final
}
