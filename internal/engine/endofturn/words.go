package endofturn

// The words: what the recogniser's text says about the end of the turn.

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// words is what the text so far says. The zero value is no text.
type words struct {
	count int // words in all

	open         bool // the last word needs another one
	mayFollow    bool // another word often follows the last one
	hesitates    bool // the last word is a hesitation
	acknowledges bool // there are only acknowledgements and hesitations: the turn has not begun
	complete     bool // the last sentence is an answer or a command of its own
	closing      bool // the last word often ends a sentence
	condition    bool // the last sentence is a clause that needs another one
	question     bool // the last sentence has the shape of a question
	command      bool // the last sentence has the shape of a request
	counts       bool // the last word is a number that counts something: what it counts follows
	unfinished   bool // a number or an address was announced and has too few digits
	ended        bool // the recogniser has written the end of a sentence
	comma        bool // the recogniser has written a mark inside a sentence
	short        bool // the last sentence has one or two words
}

// word is a word or phrase of a text.
type word struct {
	text   string
	kind   kind
	digits int  // how many digits the number has that the word is; 0: it is no number
	after  rune // the mark that follows it; 0: none
}

func (l *Language) look(text string) (w words) {
	all := l.cut(strings.ToLower(text))
	w.count = len(all)
	if w.count == 0 {
		return w
	}
	w.acknowledges = true
	for _, x := range all {
		w.acknowledges = w.acknowledges && x.kind&(acknowledgment|hesitation) != 0
	}
	last := all[len(all)-1]
	w.ended, w.comma = ends(last.after), last.after != 0 && !ends(last.after)
	sentence := all
	for i := len(all) - 2; i >= 0; i-- {
		if ends(all[i].after) {
			sentence = all[i+1:]
			break
		}
	}
	w.hesitates = last.kind&hesitation != 0
	w.open = last.kind&open != 0 && !(last.kind&complete != 0 && len(sentence) == 1)
	w.mayFollow = last.kind&mayFollow != 0
	w.closing = last.kind&closing != 0
	w.short = len(sentence) <= 2
	w.counts = last.digits > 0 && len(all) > 1 && all[len(all)-2].kind&counting != 0
	w.unfinished = l.unfinished(all)
	w.shape(sentence)
	if l.announced[last.text] > 0 && !w.question && !w.command {
		w.mayFollow = true // the number that is announced
	}
	if before := all[:len(all)-len(sentence)]; len(before) > 0 && before[0].kind&command != 0 {
		w.condition = false // "press 3. To leave": the recogniser has cut a sentence in two
	}
	return w
}

// shape looks at the shape of the last sentence.
func (w *words) shape(sentence []word) {
	first := 0
	for first < len(sentence)-1 && sentence[first].kind&(hesitation|acknowledgment) != 0 {
		first++
	}
	begin, rest := sentence[first].kind, sentence[first:]
	w.complete = true
	for _, x := range rest {
		w.complete = w.complete && x.kind&complete != 0
	}
	w.question = begin&question != 0 && len(rest) >= 3 || rest[len(rest)-1].after == '?'
	w.command = begin&command != 0 && len(rest) >= 2
	if begin&condition != 0 {
		// The main clause begins after a comma, or with a command or question.
		w.condition = true
		for i, x := range rest[:len(rest)-1] {
			if x.after == ',' && len(rest)-i > 2 && rest[i+1].kind&open == 0 || i > 1 && x.kind&command != 0 && rest[i-1].kind&open == 0 {
				w.condition = false
			}
		}
	}
}

// unfinished reports whether the text ends in a number that was announced and has too few digits, or in the number of an address.
func (l *Language) unfinished(all []word) bool {
	digits, at := 0, len(all)
	for at > 0 && (all[at-1].digits > 0 || all[at-1].kind&hesitation != 0) {
		at--
		digits += all[at].digits
	}
	if digits == 0 {
		return false
	}
	// What announces the number stands at most four words before it.
	for i := at - 1; i >= max(0, at-4); i-- {
		if all[i].kind&address != 0 {
			return true
		}
		if least := l.announced[all[i].text]; least > digits {
			return true
		}
	}
	return false
}

// cut returns the words of a text in lower case.
func (l *Language) cut(text string) (all []word) {
	for field := range strings.FieldsFuncSeq(text, unicode.IsSpace) {
		for field != "" {
			at := strings.IndexFunc(field, func(r rune) bool { return !letter(r) })
			var piece string
			switch {
			case at < 0:
				piece, field = field, ""
			case at == 0:
				mark, size := utf8.DecodeRuneInString(field)
				if field = field[size:]; len(all) > 0 {
					all[len(all)-1].after = normal(mark)
				}
				continue
			default:
				piece, field = field[:at], field[at:]
			}
			if piece = strings.Trim(piece, "'’-"); piece != "" {
				all = l.append(all, strings.ReplaceAll(piece, "’", "'"))
			}
		}
	}
	for i := 1; i < len(all); i++ { // a phrase of two words means more than its last word
		if k := l.words[all[i-1].text+" "+all[i].text]; k != 0 && all[i-1].after == 0 {
			all[i].kind = k
		}
	}
	return all
}

// append adds a piece of text without spaces and marks: a word, or several where the language writes no spaces.
func (l *Language) append(all []word, piece string) []word {
	if !l.unspaced || piece[0] < utf8.RuneSelf {
		return append(all, l.word(piece))
	}
	// The longest known word at each place; what is between is one unknown word each character.
	for piece != "" {
		size := 0
		for n := min(len(piece), l.longest); n > 0 && size == 0; n-- {
			if _, is := l.words[piece[:n]]; is || l.announced[piece[:n]] > 0 {
				size = n
			}
		}
		if size == 0 {
			_, size = utf8.DecodeRuneInString(piece)
		}
		all = append(all, l.word(piece[:size]))
		piece = piece[size:]
	}
	return all
}

func (l *Language) word(text string) word {
	w := word{text: text, kind: l.words[text]}
	if w.kind == 0 && strings.Contains(text, "-") {
		w.kind = l.words[strings.ReplaceAll(text, "-", "")]
	}
	for n := 2; n <= 4 && n < len(text) && w.kind == 0; n++ {
		w.kind = l.words["*"+text[len(text)-n:]]
	}
	if w.kind&number != 0 {
		w.digits = 1
	}
	digits := 0
	for _, r := range text {
		if !unicode.IsDigit(r) && r != '-' {
			return w
		}
		if r != '-' {
			digits++
		}
	}
	w.digits = digits
	return w
}

// letter reports whether a character belongs to a word.
func letter(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\'' || r == '’' || r == '-'
}

// ends reports whether a mark ends a sentence.
func ends(mark rune) bool { return mark == '.' || mark == '?' || mark == '!' }

// normal returns the mark that a mark of another script stands for.
func normal(mark rune) rune {
	switch mark {
	case '。', '．':
		return '.'
	case '？', '؟':
		return '?'
	case '！':
		return '!'
	case '、', '，', '،', ':', ';', '—', '–':
		return ','
	case '…':
		return ','
	}
	return mark
}
