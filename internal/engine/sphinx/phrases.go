package sphinx

// This file expands the patterns of phrases.txt into sentences.

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/engine/spell"
)

//go:embed phrases.txt
var phrasesFile string

//go:embed classes.txt
var classesFile string

// maxForms limits how many forms of one phrase are used. They are spread evenly over all forms.
const maxForms = 800

// phrase is one sentence and its share of the probability.
type phrase struct {
	words  []string
	weight float64
}

// phrases returns the sentences that users say to the assistant, from phrases.txt.
func phrases() ([]phrase, error) {
	classes := map[string][]string{"number": numbers()}
	for _, line := range lines(classesFile) {
		name, words, _ := strings.Cut(line, " ")
		classes[name] = strings.Split(words, "|")
	}
	var out []phrase
	for _, line := range lines(phrasesFile) {
		weight, text := 1.0, line
		if n, rest, ok := strings.Cut(line, " "); ok {
			if w, err := strconv.ParseFloat(n, 64); err == nil {
				weight, text = w, rest
			}
		}
		forms, rest, err := expand(text, classes)
		if err != nil || rest != "" {
			return nil, fmt.Errorf("phrase %q: %w", line, errPhrase)
		}
		step := max(1, float64(len(forms))/maxForms)
		n := float64(len(forms)) / step
		for i := 0.0; int(i) < len(forms); i += step {
			out = append(out, phrase{strings.Fields(forms[int(i)]), weight / n})
		}
	}
	return out, nil
}

var errPhrase = errors.New("not understood")

func lines(file string) []string {
	var out []string
	for l := range strings.Lines(file) {
		if l = strings.TrimSpace(l); l != "" && l[0] != '#' {
			out = append(out, l)
		}
	}
	return out
}

// numbers returns the numbers that phrases use, in words without hyphens.
func numbers() []string {
	var out []string
	for n := range int64(101) {
		out = append(out, strings.ReplaceAll(spell.Cardinal(n), "-", " "))
	}
	return append(out, "a hundred", "two hundred", "five hundred", "one thousand", "a thousand", "a million")
}

// expand returns all forms of a pattern up to a closing mark, and the text after that mark.
func expand(pattern string, classes map[string][]string) (forms []string, rest string, err error) {
	forms = []string{""}
	for pattern != "" {
		var part []string
		switch c := pattern[0]; c {
		case '|', ')', ']':
			return forms, pattern, nil
		case '(', '[':
			if part, pattern, err = choice(pattern[1:], classes); err != nil {
				return nil, "", err
			}
			if c == '[' {
				part = append(part, "")
			}
		case '$':
			n := strings.IndexAny(pattern, " )]|")
			if n < 0 {
				n = len(pattern)
			}
			part = classes[pattern[1:n]]
			pattern = pattern[n:]
			if part == nil {
				return nil, "", errPhrase
			}
		default:
			n := strings.IndexAny(pattern, "([|)]$")
			if n < 0 {
				n = len(pattern)
			}
			part, pattern = []string{pattern[:n]}, pattern[n:]
		}
		forms = product(forms, part)
	}
	return forms, "", nil
}

// choice expands the alternatives a|b up to the closing bracket.
func choice(pattern string, classes map[string][]string) (forms []string, rest string, err error) {
	for {
		one, rest, err := expand(pattern, classes)
		if err != nil || rest == "" {
			return nil, "", errPhrase
		}
		forms = append(forms, one...)
		if rest[0] != '|' {
			return forms, rest[1:], nil
		}
		pattern = rest[1:]
	}
}

func product(a, b []string) []string {
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}
