package pipeline

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// scan looks for the end of the first clause of a text.
type scan struct {
	text    string
	first   bool // it is the first clause of a reply
	decided bool // there is no text behind, or it has no say
	open    int  // backticks that opened the code which the scan is in; 0: not in code

	ends []int // sentence breaks in the text; nil until they are asked for
	run  int   // backticks just before the position
	soft place // where a clause that is too long is cut best
}

// place is a position in the text and the fence that is open there.
type place struct{ pos, fence int }

type verdict int

const (
	goOn verdict = iota // no clause ends here
	cut                 // one does
	wait                // more text is needed to tell
)

// clause gives the end of the first clause and the fence that is open there; 0 when the text does not say.
func (s *scan) clause() (end, fence int) {
	runes, space := 0, true
	for i, r := range s.text {
		s.backticks(r)
		blank := unicode.IsSpace(r)
		if i > 0 && !blank {
			switch s.judge(i, runes, r) {
			case cut:
				return i, 0
			case wait:
				return 0, 0
			case goOn:
			}
			if space && runes >= MinClause && (s.open == 0 || s.soft.pos == 0 || s.soft.fence > 0) {
				s.soft = place{i, s.fence()}
			}
		}
		if runes == MaxClause {
			return s.forced(i)
		}
		space = blank
		runes++
	}
	return 0, 0
}

// backticks follows code spans and fenced blocks. It is told every rune.
func (s *scan) backticks(r rune) {
	if r == '`' {
		s.run++
		return
	}
	switch {
	case s.run == 0:
	case s.open == 0:
		s.open = s.run
	case s.run == s.open, s.open >= 3 && s.run > s.open:
		s.open = 0
	}
	s.run = 0
	if r == '\n' && s.open < 3 {
		s.open = 0 // a code span ends with its line
	}
}

// fence is what the next clause has to know about the code that this one ends in.
func (s *scan) fence() int {
	if s.open >= 3 {
		return s.open
	}
	return 0
}

// judge says whether a clause of that many runes ends at the position i, where the rune next begins.
func (s *scan) judge(i, runes int, next rune) verdict {
	if s.open > 0 || runes < MinClause && !s.first {
		return goOn
	}
	body := strings.TrimRightFunc(s.text[:i], unicode.IsSpace)
	core := strings.TrimRightFunc(body, closer)
	mark, _ := utf8.DecodeLastRuneInString(core)
	spaced := len(body) < i
	if !spaced && mark < utf8.RuneSelf && !wide(next) {
		return goOn // inside a number, a URL, a word
	}
	v := s.sentence(i, len(core), mark, spaced)
	if v == goOn && clauseMark(core, mark, spaced) {
		v = cut
		if runes < firstClause {
			v = goOn
		}
	}
	if v != goOn && runes < MinClause && !speakable(core) {
		return goOn
	}
	return v
}

// sentence says whether a sentence that ends with mark, at the offset core, ends at i.
func (s *scan) sentence(i, core int, mark rune, spaced bool) verdict {
	if !s.breaks(core, i) {
		return goOn
	}
	full := fullStop(mark)
	if full && spaced && (listNumber(s.text[:core]) || abbreviation(s.text[:core])) || unicode.In(mark, unicode.Ps, unicode.Pi) {
		return goOn
	}
	sure := unicode.Is(unicode.STerm, mark) && !full || strings.Contains(s.text[core:i], "\n")
	if !sure && !s.decided && strings.IndexFunc(s.text[i:], settles) < 0 {
		return wait // after a full stop, a lower-case letter would go on with the sentence
	}
	return cut
}

// breaks reports a sentence break between two positions, both included.
func (s *scan) breaks(from, to int) bool {
	if s.ends == nil {
		s.ends = make([]int, 0, 8)
		for it := sentences.FromString(s.text); it.Next(); {
			s.ends = append(s.ends, it.End())
		}
	}
	for _, e := range s.ends {
		if e >= from && e <= to && e < len(s.text) {
			return true
		}
	}
	return false
}

// forced gives the best cut not after limit, where the clause has as many runes as it may have.
func (s *scan) forced(limit int) (end, fence int) {
	if s.soft.pos > 0 {
		return s.soft.pos, s.soft.fence
	}
	end = limit
	for range 16 { // a letter keeps its accents
		r, size := utf8.DecodeRuneInString(s.text[end:])
		prev, back := utf8.DecodeLastRuneInString(s.text[:end])
		joined := unicode.Is(unicode.M, r) || r == '\u200d' || prev == '\u200d'
		if size == 0 || !joined {
			return end, s.fence()
		}
		end -= back
	}
	return limit, s.fence()
}

// settles: after a full stop, the first such rune tells whether a new sentence begins (UAX 29, rule SB8).
func settles(r rune) bool {
	return unicode.IsLetter(r) && !unicode.Is(unicode.Other_Grapheme_Extend, r) || r == '\n' || r == '.' || r == '!' || r == '?'
}

func fullStop(r rune) bool { return r == '.' || r == '\u2024' || r == '\ufe52' || r == '\uff0e' }

// closer: spaces, quotes, brackets, emphasis marks and invisible runes that belong to what they end.
func closer(r rune) bool {
	switch r {
	case '"', '\'', '’', '”', '»', '*', '_', '~':
		return true
	}
	return unicode.IsSpace(r) || unicode.In(r, unicode.Pe, unicode.Pf, unicode.Cf, unicode.M)
}

// wide: a rune of a script that is written without spaces.
func wide(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// clauseMark reports whether core, which ends with mark, may end a clause inside a sentence.
func clauseMark(core string, mark rune, spaced bool) bool {
	switch mark {
	case '、', '，', '；', '：', '､', '﹐', '﹑', '—':
		return true
	case ',', ';', ':', '–', '…', '،', '؛':
		return spaced
	case '.':
		return spaced && strings.HasSuffix(core, "...")
	}
	return false
}

// speakable: there is something to say in it besides a mark or a list's number.
func speakable(core string) bool {
	n := 0
	for _, r := range core {
		switch {
		case wide(r):
			return true
		case unicode.IsLetter(r):
			n += 2
		case unicode.IsDigit(r):
			n++
		}
	}
	return n >= 2 && !listNumber(core)
}

// listNumber reports whether core ends with a list's number such as "2." at the begin of a line.
func listNumber(core string) bool {
	line := core[strings.LastIndexByte(core, '\n')+1:]
	line = strings.TrimRight(strings.TrimSpace(line), ".)")
	return line != "" && strings.TrimLeft(line, "0123456789") == ""
}

// abbreviation reports whether core ends with an abbreviation that stands before a name.
func abbreviation(core string) bool {
	word := core[strings.LastIndexFunc(core, unicode.IsSpace)+1:]
	word = strings.TrimLeft(strings.TrimSuffix(word, "."), "(\"'[*_")
	switch strings.ToLower(word) {
	case "dr", "mr", "mrs", "ms", "prof", "st", "vs", "cf", "e.g", "i.e", "approx", "gen", "sen", "rev", "capt", "lt", "sgt", "fig":
		return true
	}
	return len(word) == 1 && word[0] >= 'A' && word[0] <= 'Z' && word != "I" // an initial
}
