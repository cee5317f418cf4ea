package endofturn

// What words mean that a user says while the agent speaks: an interruption, or "I am listening".

import (
	"strings"
	"unicode"

	"github.com/antiphon-rt/antiphon/internal/script"
)

// Said is what the words say that a user speaks over the agent. The zero value is no words.
type Said struct {
	Interrupts   bool // there is a word such as "stop", or two other words that are neither acknowledgements nor fillers
	Answers      bool // there is a word that is no filler: recognisers do not find it in noise
	Acknowledges bool // all words only say that the user listens, such as "mm-hm" and "yes"
}

// listens are the kinds of words that never interrupt, however many there are.
const listens = acknowledgment | hesitation | agreement

// enough is how much of two words there must be, in halves of a word.
const enough = 4

// Over returns what a text says that a user speaks over the agent. It looks at the last 1000 bytes. A nil Language has no data: only the number of words counts.
func (l *Language) Over(text string) (s Said) {
	if l == nil {
		l = &Language{}
	}
	if len(text) > maxText {
		text = text[len(text)-maxText:]
	}
	all := l.cut(strings.ToLower(text))
	content := 0
	s.Acknowledges = len(all) > 0
	for i, w := range all {
		k := w.kind
		if i+1 < len(all) && w.after == 0 {
			k |= l.words[w.text+" "+all[i+1].text]
		}
		s.Interrupts = s.Interrupts || k&interruption != 0
		s.Answers = s.Answers || k&filler == 0
		s.Acknowledges = s.Acknowledges && k&listens != 0
		if k&(listens|filler) == 0 {
			content += halves(w.text)
		}
	}
	s.Interrupts = s.Interrupts || content >= enough
	return s
}

// halves returns how many halves of a word a text without spaces is. Where no spaces stand between words, each character is one.
func halves(text string) (n int) {
	for _, r := range text {
		if !script.Unspaced(r) {
			return 2
		}
		n++
	}
	return n
}

// Choice says in which language a user speaks. The zero value is a language that is not known.
type Choice struct {
	Name string // such as "en" or "en-US"; empty: the script of what the user says decides
	Own  Own    // languages of the program's own; nil for none
}

// Own has languages of a program's own, by their names, such as "pl". They go before those that are built in. Nobody changes it.
type Own map[string]*Language

// New is the function New with languages of the program's own.
func (o Own) New(language string) Estimator {
	c := Choice{language, o}
	return &estimator{pick: c.Language, language: c.Language(""), prosody: newProsody()}
}

// Language returns the data for a text of the user; nil if there is none.
func (c Choice) Language(text string) *Language {
	name := c.Name
	if name == "" {
		name = byScript(text)
	}
	if l := c.Own[base(name)]; l != nil {
		return l
	}
	return Find(name)
}

// byScript returns a language that is written in the script of a text: Japanese, Chinese, Russian, and English for all other scripts.
func byScript(text string) string {
	language := "en"
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return "ja" // which also has Chinese characters
		case unicode.Is(unicode.Han, r):
			language = "zh"
		case unicode.Is(unicode.Cyrillic, r):
			return "ru"
		}
	}
	return language
}
