package pipeline

// This file finds the end of one clause in a text.

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// scan finds the end of the first clause of a text.
type scan struct {
	text    string
	first   bool // the clause is the first one of a response
	decided bool // text after this one cannot change the decision
	open    int  // number of backticks that opened the code at the position; 0: not in code

	ends []int // sentence breaks in the text; nil until breaks is called
	run  int   // number of backticks directly before the position
	soft place // where a clause that is too long is cut
}

// place is a position in the text, in bytes, and the fence that is open there.
type place struct{ pos, fence int }

type verdict int

const (
	goOn verdict = iota // no clause ends here
	cut                 // a clause ends here
	wait                // only more text can decide
)

// clause returns the end of the first clause, in bytes, and the fence that is open there. end is 0 if the text does not decide.
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

// backticks tracks code spans and fenced blocks. It must be called with each rune.
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

// fence returns the number of backticks of the fenced block at the position; 0 outside of one.
func (s *scan) fence() int {
	if s.open >= 3 {
		return s.open
	}
	return 0
}

// judge decides whether a clause ends at position i. The clause has that many runes; next is the rune at i.
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

// sentence decides whether a sentence ends at i. Its text ends with mark at the offset core.
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
		return wait // a lower-case letter after a full stop continues the sentence
	}
	return cut
}

// breaks reports whether there is a sentence break from one position to another, both included.
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

// forced returns where to cut a clause that has no mark before limit, the position of its MaxClause-th rune.
func (s *scan) forced(limit int) (end, fence int) {
	if s.soft.pos > 0 {
		return s.soft.pos, s.soft.fence
	}
	end = limit
	for range 16 { // does not separate a letter from its accents
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

// settles reports whether r decides, after a full stop, if a new sentence begins (UAX 29, rule SB8).
func settles(r rune) bool {
	return unicode.IsLetter(r) && !unicode.Is(unicode.Other_Grapheme_Extend, r) || r == '\n' || r == '.' || r == '!' || r == '?'
}

// fullStop reports whether r is a full stop in one of its forms.
func fullStop(r rune) bool { return r == '.' || r == '\u2024' || r == '\ufe52' || r == '\uff0e' }

// closer reports whether r belongs to the text before it: a space, a closing quote or bracket, an emphasis mark, or an
// invisible rune.
func closer(r rune) bool {
	switch r {
	case '"', '\'', '’', '”', '»', '*', '_', '~':
		return true
	}
	return unicode.IsSpace(r) || unicode.In(r, unicode.Pe, unicode.Pf, unicode.Cf, unicode.M)
}

// wide reports whether r is of a script that is written without spaces.
func wide(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// clauseMark reports whether a clause inside a sentence may end after core, which ends with mark. spaced: white space follows.
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

// speakable reports whether core contains more to say than a mark or the number of a list entry.
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

// listNumber reports whether the last line of core is only the number of a list entry, such as "2.".
func listNumber(core string) bool {
	line := core[strings.LastIndexByte(core, '\n')+1:]
	line = strings.TrimRight(strings.TrimSpace(line), ".)")
	return line != "" && strings.TrimLeft(line, "0123456789") == ""
}

// abbreviation reports whether core ends with an abbreviation that is followed by more text, such as "Dr." or an initial.
func abbreviation(core string) bool {
	word := core[strings.LastIndexFunc(core, unicode.IsSpace)+1:]
	word = strings.TrimLeft(strings.TrimSuffix(word, "."), "(\"'[*_")
	switch strings.ToLower(word) {
	case "dr", "mr", "mrs", "ms", "prof", "st", "vs", "cf", "e.g", "i.e", "approx", "gen", "sen", "rev", "capt", "lt", "sgt", "fig":
		return true
	}
	return len(word) == 1 && word[0] >= 'A' && word[0] <= 'Z' && word != "I"
}
