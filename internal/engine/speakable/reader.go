package speakable

// The reader: follows the Markdown of a response from clause to clause, and keeps what is to be said.

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Language says what a Reader does with symbols, units and dates.
type Language string

const (
	Any     Language = ""   // removes marks, and leaves symbols, units and dates as they are
	English Language = "en" // writes symbols, units and dates as English words
)

// codeNote takes the place of a block of code, in English.
const codeNote = "Here is some code."

// Reader reads one response. The zero value reads any language. Only one goroutine at a time may use a Reader.
type Reader struct {
	Language Language

	fence  string // the backticks or tildes that opened the block of code that the text is in; empty outside
	within bool   // the text is inside a line whose begin was read
	link   bool   // the text is inside the brackets of a link, or of an image
}

// New returns a function for pipeline.Pipeline.Speakable: each response has its own Reader.
func New(language Language) func() func(clause string) string {
	return func() func(clause string) string { return (&Reader{Language: language}).Clause }
}

// Clause returns what to say for the next clause of the response. It is empty if the clause has nothing to say. The clauses must be
// those of pipeline.Clauses: they do not cut words, numbers and addresses.
func (r *Reader) Clause(text string) string {
	var said strings.Builder
	for text != "" {
		line, rest, whole := strings.Cut(text, "\n")
		said.WriteString(r.line(line, whole))
		text = rest
		if whole {
			r.within, r.link = false, false
			if text != "" || r.fence == "" {
				said.WriteByte('\n')
			}
		}
	}
	return tidy(said.String())
}

// line returns what to say for a line, or for the piece of a line that the clause has. whole: the line ends here.
func (r *Reader) line(line string, whole bool) string {
	begins := !r.within
	r.within = true
	if begins || r.fence != "" {
		if done, said := r.block(line); done {
			return said
		}
	}
	stopped := false
	if begins {
		line, stopped = strip(line)
	}
	said := r.inline(line)
	if r.Language == English {
		said = english(said)
	}
	if stopped && whole {
		said = stop(said)
	}
	return said
}

// block handles the lines of blocks of code, tables and rules. done: nothing else is to be said for the line.
func (r *Reader) block(line string) (done bool, said string) {
	bare := strings.TrimSpace(line)
	if mark := fenceOf(bare); mark != "" {
		switch {
		case r.fence == "":
			r.fence = mark
			if r.Language == English {
				said = codeNote
			}
		case strings.HasPrefix(mark, r.fence):
			r.fence = ""
		}
		return true, said
	}
	if r.fence != "" {
		// A fence may end in the middle of a clause's line, because clauses lose no text between them.
		return true, ""
	}
	return bare != "" && strings.Trim(bare, "-=*_|: \t") == "", "" // a rule, or the second line of a table
}

// fenceOf returns the backticks or tildes at the begin of a line that opens or closes a block of code.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 && !strings.Contains(line[n:], "`") {
			return line[:n]
		}
	}
	return ""
}

// strip removes the marks at the begin of a line: heading, quotation, list. stopped: the line is a sentence of its own.
func strip(line string) (text string, stopped bool) {
	text = strings.TrimSpace(line)
	for strings.HasPrefix(text, ">") {
		text = strings.TrimSpace(text[1:])
	}
	if rest := strings.TrimLeft(text, "#"); rest != text && (rest == "" || rest[0] == ' ') {
		return padded(line, strings.TrimSpace(strings.TrimRight(rest, "# "))), true
	}
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "– "} {
		if rest, is := strings.CutPrefix(text, mark); is {
			rest = strings.TrimSpace(rest)
			for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
				rest = strings.TrimPrefix(rest, box)
			}
			return padded(line, rest), true
		}
	}
	if len(text) > 1 && strings.HasPrefix(text, "|") {
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(text, "|"), "|") {
			if cell = strings.TrimSpace(cell); cell != "" {
				cells = append(cells, cell)
			}
		}
		return strings.Join(cells, ", "), true
	}
	return padded(line, text), listNumber(text)
}

// padded returns text with a space behind it if the line has one: the next clause goes on there.
func padded(line, text string) string {
	if strings.HasSuffix(line, " ") && text != "" {
		return text + " "
	}
	return text
}

// listNumber reports whether a line begins with the number of a list entry, such as "2. " or "3) ".
func listNumber(text string) bool {
	rest := strings.TrimLeft(text, "0123456789")
	return rest != text && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") "))
}

// stop returns text with a full stop if it has no mark at its end: a list entry or a heading is a sentence of its own.
func stop(text string) string {
	bare := strings.TrimRightFunc(text, unicode.IsSpace)
	last, _ := utf8.DecodeLastRuneInString(bare)
	if bare == "" || !unicode.IsLetter(last) && !unicode.IsDigit(last) && !unicode.In(last, unicode.Pe, unicode.Pf) {
		return text
	}
	return bare + "."
}

// inline returns a line without the marks inside it: emphasis, code, links, images, tags, and pictures.
func (r *Reader) inline(text string) string {
	var out strings.Builder
	var before rune // the rune before the position
	for text != "" {
		c, size := utf8.DecodeRuneInString(text)
		next := text[size:]
		switch {
		case c == '\\' && next != "" && strings.ContainsRune("\\`*_{}[]()#+-.!|~<>$", rune(next[0])):
			out.WriteByte(next[0])
			size++
		case c == '`', c == '~' && strings.HasPrefix(next, "~"), c == '~' && before == '~':
		case c == '*' && !operator(before, next), c == '_' && (!word(before) || !word(first(next))):
		case c == '!' && strings.HasPrefix(next, "["):
		case c == '[' && (r.link || linkText(next)):
			r.link = true
		case c == ']' && r.link:
			size += destination(next)
			r.link = false
		case c == '<':
			n, address := tag(text)
			out.WriteString(address)
			size = max(size, n)
			if n == 0 {
				out.WriteRune(c)
			}
		case picture(c):
		default:
			out.WriteRune(c)
		}
		before, text = c, text[size:]
	}
	return out.String()
}

func first(text string) rune {
	c, _ := utf8.DecodeRuneInString(text)
	if text == "" {
		return ' '
	}
	return c
}

func word(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

// operator reports whether a star between two runes multiplies: it stands between spaces or between digits.
func operator(before rune, next string) bool {
	after := first(next)
	return before == ' ' && after == ' ' || unicode.IsDigit(before) && unicode.IsDigit(after)
}

// linkText reports whether a text after "[" may be that of a link: "](" or "][" follows, or the clause ends before "]".
func linkText(text string) bool {
	end := strings.IndexByte(text, ']')
	return end < 0 || strings.HasPrefix(text[end:], "](") || strings.HasPrefix(text[end:], "][")
}

// destination returns the length of the address or label after the text of a link.
func destination(text string) int {
	for opening, closing := range map[string]string{"(": ")", "[": "]"} {
		if end := strings.Index(text, closing); strings.HasPrefix(text, opening) && end > 0 {
			return end + 1
		}
	}
	return 0
}

// tag returns the length of an HTML tag or of an address in angle brackets at the begin of the text, and the address; 0 for none.
func tag(text string) (n int, address string) {
	end := strings.IndexByte(text, '>')
	if end < 2 {
		return 0, ""
	}
	inner := text[1:end]
	if strings.Contains(inner, "://") || strings.Contains(inner, "@") && !strings.Contains(inner, " ") {
		return end + 1, strings.TrimPrefix(inner, "mailto:")
	}
	if c := inner[0]; c == '/' || c == '!' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
		name := strings.TrimLeft(strings.ToLower(inner), "/")
		if name == "br" || name == "br/" || name == "br /" {
			return end + 1, " "
		}
		return end + 1, ""
	}
	return 0, ""
}

// picture reports whether a rune is an emoji or one of the invisible runes that belong to emoji.
func picture(c rune) bool {
	return c == '\u200d' || c == '\ufe0f' || c == '\u20e3' || 0x1f000 <= c && c <= 0x1faff || 0x2600 <= c && c <= 0x27bf ||
		0xe0020 <= c && c <= 0xe007f
}

// tidy joins runs of white space, and removes that at the begin and before a mark. It returns nothing for a text without a letter, a
// digit or a symbol that has a name.
func tidy(text string) string {
	var out strings.Builder
	blank := rune(0)
	for _, c := range text {
		if unicode.IsSpace(c) {
			if blank != '\n' {
				blank = c
			}
			continue
		}
		if blank != 0 && out.Len() > 0 && !strings.ContainsRune("!?.,;:", c) {
			out.WriteRune(blank)
		}
		blank = 0
		out.WriteRune(c)
	}
	if out.Len() > 0 && blank != 0 {
		out.WriteRune(blank)
	}
	said := out.String()
	if strings.IndexFunc(said, func(c rune) bool { return word(c) || unicode.IsMark(c) || unicode.In(c, unicode.Sc, unicode.Sm) }) < 0 {
		return ""
	}
	return said
}
