package endofturn

// The data of languages: what words mean for the end of a turn, and over the agent.

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// ErrLanguage is wrapped by the errors of Read.
var ErrLanguage = errors.New("the words of a language cannot be read")

// Limits of the data of a language.
const (
	maxWords = 10_000
	maxWord  = 100     // bytes of a word or phrase
	maxFile  = 1 << 20 // bytes of the text
)

// kind is what a word or phrase means. A word may have several.
type kind uint32

const (
	open           kind = 1 << iota // more follows it: a conjunction, an article, a preposition, a verb without its object
	mayFollow                       // more often follows it: an adverb, a verb that can stand alone
	hesitation                      // "um"
	acknowledgment                  // "mm-hm": does not end a turn
	complete                        // ends a turn alone: "yes", "stop"
	closing                         // often the last word: "please", "now"
	condition                       // begins a clause that needs another one: "if", "to"
	question                        // begins a question
	command                         // begins a request: "please", "tell"
	number                          // "seven"
	counting                        // what a number after it counts follows: "you have three"
	address                         // announces an address, whose number is not its end
	agreement                       // over the agent: "yes, I am listening"
	interruption                    // over the agent: interrupts it at once
	filler                          // a recogniser finds it in noise: alone it means nothing
)

// kinds are the sections of a file.
var kinds = map[string]kind{
	"open": open, "may follow": mayFollow, "hesitations": hesitation, "acknowledgements": acknowledgment, "complete": complete,
	"closings": closing, "conditions": condition, "questions": question, "commands": command, "numbers": number, "counting": counting, "addresses": address,
	"agreements": agreement, "interruptions": interruption, "fillers": filler,
}

// Language is what is known of a language. Nobody changes it: any number of goroutines may use it.
type Language struct {
	words map[string]kind
	// announced has the words that announce a number, with the digits that it has at least.
	announced map[string]int
	// unspaced: the language writes no spaces between words.
	unspaced bool
	longest  int // bytes of the longest word
}

//go:embed languages
var files embed.FS

var (
	mu    sync.Mutex
	found = map[string]*Language{}
)

// Find returns the data of a language, such as "en" or "en-US"; nil if there is none. The empty text means English.
func Find(language string) *Language {
	name := base(language)
	if name == "" {
		name = "en"
	}
	if len(name) > 8 || strings.ContainsAny(name, `/\.`) {
		return nil
	}
	f, err := files.Open("languages/" + name + ".txt")
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	mu.Lock()
	defer mu.Unlock()
	if l := found[name]; l != nil {
		return l
	}
	l, err := Read(f)
	if err != nil {
		panic(fmt.Sprintf("endofturn: languages/%s.txt: %v", name, err)) // a test reads every file
	}
	found[name] = l
	return l
}

// base returns the name of a language without its region, in lower case: "en" for "en-US".
func base(language string) string {
	name, _, _ := strings.Cut(strings.ToLower(language), "-")
	name, _, _ = strings.Cut(name, "_")
	return name
}

// Read reads the data of a language. A line in brackets, such as [open], begins a section. Each other line has words or phrases of the section,
// with commas between; a line that begins with # is a comment. A phrase has two words. *ly stands for all other words that end in ly. The section [announcements] has the words that announce a number, each with the
// digits that such a number has at least: "code 4". The section [script] has "unspaced" if the language writes no spaces between words. An error
// names the line and wraps ErrLanguage. The text is UTF-8 and has at most 1 MiB, with 10,000 words of at most 100 bytes.
func Read(r io.Reader) (*Language, error) {
	text, err := readText(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLanguage, err)
	}
	l := &Language{words: map[string]kind{}, announced: map[string]int{}}
	section, n := "", 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = strings.TrimSpace(line[1 : len(line)-1])
			continue
		}
		for entry := range strings.SplitSeq(line, ",") {
			if entry = strings.ToLower(strings.TrimSpace(entry)); entry == "" {
				continue
			}
			if err := l.add(section, entry); err != nil {
				return nil, fmt.Errorf("%w: line %d: %w", ErrLanguage, n, err)
			}
		}
	}
	return l, nil
}

// readText returns the whole text of r, without the mark that some editors write before it.
func readText(r io.Reader) (string, error) {
	bytes, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	text := string(bytes)
	switch {
	case err != nil:
		return "", err
	case len(text) > maxFile:
		return "", fmt.Errorf("the text has more than %d bytes: leave words out", maxFile)
	case !utf8.ValidString(text):
		return "", errors.New("the text is not UTF-8: save the file as UTF-8")
	}
	return strings.TrimPrefix(text, "\uFEFF"), nil
}

func (l *Language) add(section, entry string) error {
	if len(l.words)+len(l.announced) >= maxWords {
		return fmt.Errorf("more than %d words: leave some out", maxWords)
	}
	if len(entry) > maxWord {
		return fmt.Errorf("%q... has %d bytes, and a word has at most %d: put a comma (,) between words", cutAt(entry, 30), len(entry), maxWord)
	}
	switch section {
	case "announcements":
		at := strings.LastIndexByte(entry, ' ')
		if at < 0 {
			return fmt.Errorf("%q has no number of digits: want a line such as \"code 4\"", entry)
		}
		digits, err := strconv.Atoi(entry[at+1:])
		if err != nil || digits < 1 || digits > 99 {
			return fmt.Errorf("%q: want 1 to 99 digits", entry)
		}
		l.announced[strings.TrimSpace(entry[:at])] = digits
		return nil
	case "script":
		if entry != "unspaced" {
			return fmt.Errorf("[script] has %q: want unspaced or nothing", entry)
		}
		l.unspaced = true
		return nil
	}
	k, is := kinds[section]
	if !is {
		return fmt.Errorf("there is no section [%s]: want [open], [may follow], [hesitations], [acknowledgements], [complete], [closings], "+
			"[conditions], [questions], [commands], [numbers], [counting], [addresses], [agreements], [interruptions], [fillers], [announcements] or [script]", section)
	}
	l.words[entry] |= k
	l.longest = max(l.longest, len(entry))
	return nil
}

// cutAt returns the first n characters of a text.
func cutAt(text string, n int) string {
	for at := range text {
		if n--; n < 0 {
			return text[:at]
		}
	}
	return text
}
