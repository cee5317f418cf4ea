package runs

// The data of languages: the question for an approval, and the words that answer it. The file replies.go has the same for other questions.

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed languages
var files embed.FS

// Words are the question and the answers in one language. Nobody changes them: any number of goroutines may use them.
type Words struct {
	meaning  map[string]meaning // by phrase, as fold returns it
	longest  int                // words of the longest phrase; characters where the language writes no spaces
	question string             // has {tool} and {arguments}
	plain    string             // the question for a tool without arguments; has {tool}
	ask      string             // a question that wants any words; has {tool} and {prompt}
	choose   string             // a question that wants one of several choices; has {tool}, {prompt} and {choices}
	replies  map[string]reply   // by phrase, as fold returns it: phrases that mean something in reply to ask and choose
	unspaced bool               // the language writes no spaces between words
	letters  []*unicode.RangeTable
}

// meaning is what a phrase says about the question.
type meaning uint8

const (
	polite  meaning = iota + 1 // nothing: "please"
	yes                        // it approves
	no                         // it declines
	unclear                    // it has such words and means something else: "don't stop"
)

var sections = map[string]meaning{"polite": polite, "yes": yes, "no": no, "unclear": unclear}

// all has the languages by name.
var all = readAll()

// readAll reads the built-in languages. A file that cannot be read is a fault of the program, which each test of the package finds.
func readAll() map[string]*Words {
	found := map[string]*Words{}
	entries, err := files.ReadDir("languages")
	if err != nil {
		panic(err)
	}
	for _, f := range entries {
		text, err := files.ReadFile("languages/" + f.Name())
		if err == nil {
			found[strings.TrimSuffix(f.Name(), ".txt")], err = read(string(text))
		}
		if err != nil {
			panic(fmt.Sprintf("approval: %s: %v", f.Name(), err))
		}
	}
	return found
}

// FindWords returns the words of a language, such as "en" or "en-US"; nil if there are none, and for the empty text.
func FindWords(language string) *Words {
	name, _, _ := strings.Cut(strings.ToLower(language), "-")
	name, _, _ = strings.Cut(name, "_")
	return all[name]
}

// read reads the data of a language. A line in brackets begins a section. The sections [yes], [no], [polite] and [unclear] have phrases with commas between.
// [later], [again] and [pick] have phrases for replies. [question] has a line, and [plain] has one for a tool without arguments. [ask] and [choose] have a line. [letters] names the scripts in which arguments may be. [script] has "unspaced" or nothing.
func read(text string) (*Words, error) {
	w := &Words{meaning: map[string]meaning{}, replies: map[string]reply{}}
	sentences := map[string]*string{"question": &w.question, "plain": &w.plain, "ask": &w.ask, "choose": &w.choose}
	section := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case sentences[section] != nil:
			*sentences[section] = line
		case section == "script":
			w.unspaced = line == "unspaced"
		case section == "letters":
			for name := range strings.SplitSeq(line, ",") {
				table := unicode.Scripts[strings.TrimSpace(name)]
				if table == nil {
					return nil, fmt.Errorf("there is no script %q", name)
				}
				w.letters = append(w.letters, table)
			}
		case replySections[section] != 0:
			if err := addPhrases(w, w.replies, replySections[section], line); err != nil {
				return nil, err
			}
		default:
			if err := addPhrases(w, w.meaning, sections[section], line); err != nil {
				return nil, err
			}
		}
	}
	for name, needs := range map[string][]string{
		"question": {"{tool}", "{arguments}"}, "plain": {"{tool}"}, "ask": {"{tool}", "{prompt}"}, "choose": {"{tool}", "{prompt}", "{choices}"},
	} {
		for _, place := range needs {
			if !strings.Contains(*sentences[name], place) {
				return nil, fmt.Errorf("[%s] needs %s", name, place)
			}
		}
	}
	return w, nil
}

// addPhrases adds the phrases of a line, which mean m, to a map.
func addPhrases[M meaning | reply](w *Words, to map[string]M, m M, line string) error {
	for phrase := range strings.SplitSeq(line, ",") {
		pieces := w.fold(phrase)
		if len(pieces) == 0 {
			continue
		}
		key := w.join(pieces)
		if m == 0 || to[key] != 0 {
			return fmt.Errorf("%q stands in no section or in two", phrase)
		}
		to[key] = m
		w.longest = max(w.longest, len(pieces))
	}
	return nil
}

// fold returns the words of a text in lower case and without marks. Where the language writes no spaces, each character is a word.
func (w *Words) fold(text string) []string {
	text = strings.NewReplacer("’", "'", "ё", "е").Replace(strings.ToLower(text))
	pieces := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '\''
	})
	if w.unspaced {
		return strings.Split(strings.Join(pieces, ""), "")
	}
	return pieces
}

func (w *Words) join(pieces []string) string {
	if w.unspaced {
		return strings.Join(pieces, "")
	}
	return strings.Join(pieces, " ")
}

// longestAnswer is how many bytes an answer may have.
const longestAnswer = 200

// Answer returns what a whole turn of the user says to the question. ok is false if it is not an answer: it has other words, or it
// approves and declines, or it does neither, or it is a question.
func (w *Words) Answer(text string) (approves, ok bool) {
	if len(text) > longestAnswer || strings.ContainsAny(text, "?？") {
		return false, false
	}
	said := map[meaning]bool{}
	for rest := w.fold(text); len(rest) > 0; {
		n, m := w.phrase(rest)
		if m == 0 || m == unclear {
			return false, false
		}
		said[m] = true
		rest = rest[n:]
	}
	return said[yes], said[yes] != said[no]
}

// phrase returns the longest known phrase at the begin of a text, in words, and its meaning; 0 for none.
func (w *Words) phrase(text []string) (n int, m meaning) {
	for n = min(w.longest, len(text)); n > 0; n-- {
		if m = w.meaning[w.join(text[:n])]; m != 0 {
			return n, m
		}
	}
	return 0, 0
}

// longestQuestion is how many bytes a question may have: a person cannot follow a longer one.
const longestQuestion = 400

// Question returns what the server says to ask for the approval of a call of a tool with arguments, a JSON object. ok is false if that cannot be said
// in full, so that the user would approve what nobody has said: the arguments are too long, or have other characters than letters of the language, digits
// and simple marks, or have objects in them. It is also false if a part of the question would be an approval: the echo of it must not answer.
func (w *Words) Question(tool string, arguments json.RawMessage) (text string, ok bool) {
	said, ok := spoken(arguments)
	if !ok || !w.sayable(tool) || !w.sayable(said) {
		return "", false
	}
	text = w.plain
	if said != "" {
		text = w.question
	}
	text = strings.NewReplacer("{tool}", name(tool), "{arguments}", said).Replace(text)
	return text, len(text) <= longestQuestion && !w.hasYes(text)
}

// hasYes reports whether a part of a text approves.
func (w *Words) hasYes(text string) bool {
	least := 1
	if w.unspaced {
		least = 2 // single characters are parts of other words
	}
	for rest := w.fold(text); len(rest) > 0; rest = rest[1:] {
		for n := least; n <= min(w.longest, len(rest)); n++ {
			if w.meaning[w.join(rest[:n])] == yes {
				return true
			}
		}
	}
	return false
}

// marks are the marks that a synthesizer reads, or that change nothing.
const marks = " .,:'-_@%€$£"

// sayable reports whether a synthesizer for this language says every character of a text.
func (w *Words) sayable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return !w.says(r) && !strings.ContainsRune(marks, r)
	})
}

// says reports whether a character is a digit or a letter of the language.
func (w *Words) says(r rune) bool {
	return unicode.IsOneOf(w.letters, r) && unicode.Is(common, r) || r >= '0' && r <= '9'
}

// common are the letters of the scripts that texts of today have. The scripts have others, such as wide and phonetic ones, which a synthesizer may leave out.
var common = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 'A', Hi: 'Z', Stride: 1},
		{Lo: 'a', Hi: 'z', Stride: 1},
		{Lo: 0xC0, Hi: 0x24F, Stride: 1},
		{Lo: 0x400, Hi: 0x45F, Stride: 1},
		{Lo: 0x1E00, Hi: 0x1EFF, Stride: 1},
		{Lo: 0x3005, Hi: 0x3005, Stride: 1},
		{Lo: 0x3041, Hi: 0x30FF, Stride: 1},
		{Lo: 0x4E00, Hi: 0x9FFF, Stride: 1},
	},
	LatinOffset: 2,
}

// name returns the name of a tool or an argument as it is said.
func name(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return ' '
		}
		return r
	}, text))
}

// spoken returns a JSON object as text: "to: Oslo, seats: 2". ok is false if it has objects in it, or is no object.
func spoken(arguments json.RawMessage) (text string, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(arguments, &fields) != nil || fields == nil || !once(arguments) {
		return "", false
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		value, ok := spokenValue(fields[key])
		if !ok || name(key) == "" {
			return "", false
		}
		out = append(out, name(key)+": "+value)
	}
	return strings.Join(out, ", "), true
}

// spokenValue returns a text, a number, a truth value or a list of them as text.
func spokenValue(value json.RawMessage) (text string, ok bool) {
	var list []json.RawMessage
	switch {
	case json.Unmarshal(value, &list) == nil && list != nil:
		var out []string
		for _, v := range list {
			if len(v) == 0 || v[0] == '[' {
				return "", false
			}
			said, ok := spokenValue(v)
			if !ok {
				return "", false
			}
			out = append(out, said)
		}
		return strings.Join(out, ", "), len(out) > 0
	case json.Unmarshal(value, &text) == nil && value[0] == '"':
		return text, strings.Trim(text, marks) != "" && !strings.Contains(text, "_")
	}
	said := string(value)
	return said, said == "true" || said == "false" || said == "null" || strings.Trim(said, "-.0123456789") == ""
}

// once reports whether no name stands twice in a JSON object without objects in it. A program may read the first value, and another one the last.
func once(object json.RawMessage) bool {
	d := json.NewDecoder(bytes.NewReader(object))
	names := map[json.Token]bool{}
	depth, isName := 0, false
	for {
		token, err := d.Token()
		if err != nil {
			return true // its end: the caller has read it
		}
		mark, is := token.(json.Delim)
		switch {
		case is && (mark == '{' || mark == '['):
			depth++
			isName = depth == 1
		case is:
			depth--
			isName = depth == 1
		case depth == 1 && isName:
			if names[token] {
				return false
			}
			names[token], isName = true, false
		case depth == 1:
			isName = true
		}
	}
}
