package pipeline

import (
	"strings"
	"unicode/utf8"
)

// Limits of a clause, in runes.
const (
	// MinClause is the length from which a clause is cut. Only the first clause of a reply, which somebody waits for, and
	// the last one may be shorter.
	MinClause = 12
	// MaxClause is the length at which a text without any mark is cut all the same.
	MaxClause = 200

	firstClause = 5  // the first clause is cut at a comma from this length on
	lookahead   = 64 // how far past MaxClause the text may decide about a mark before it
)

// Clauses cuts a stream of text into pieces to speak, each as soon as it can be known: at Unicode sentence breaks, and at
// commas and other clause marks (CJK ones too) once the piece has MinClause runes. Numbers (3.14, 1,000, 10:30), URLs,
// common abbreviations and code between backticks are not cut, unless they are longer than MaxClause.
//
// The clauses together are the text: nothing is lost, nothing comes twice, and white space stays (at a clause's end). They
// depend on the text alone, not on how it was dealt out to Push. What waits for more text is never longer than MaxClause and
// a short lookahead. The zero value is ready to use. A Clauses is for one goroutine.
type Clauses struct {
	text    string
	started bool // a clause was cut already
	fence   int  // backticks of the fenced code block that the text begins in; 0: none
}

// NewClauses starts a new text.
func NewClauses() *Clauses { return &Clauses{} }

// Push takes the next piece of text, which may end inside a rune, and returns the clauses that are complete with it.
func (c *Clauses) Push(delta string) []string {
	c.text += delta
	return c.take(false)
}

// Flush returns the rest, and starts a new text.
func (c *Clauses) Flush() []string {
	out := c.take(true)
	*c = Clauses{}
	return out
}

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
		c.text = strings.Clone(c.text) // lets go of what was cut
	}
	return out
}

// next gives the length in bytes of the first clause; 0 when the text does not say yet.
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

// window is as much of the text as may decide about its first clause. decided: nothing behind the window has a say.
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
