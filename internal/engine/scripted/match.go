package scripted

// This file has the conditions of a script.

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// When is a condition. All of its fields that are set must hold. The empty condition always holds.
type When struct {
	Exact    string `yaml:"exact"`        // the text, but for case, punctuation and spaces at its ends
	Contains string `yaml:"contains"`     // part of the text, but for case
	Regexp   string `yaml:"regexp"`       // RE2, anywhere in the text
	Tool     string `yaml:"tool"`         // model only: the last message is the result of this tool, and the text is its output
	Turn     int    `yaml:"turn" min:"0"` // model only: the user's message number, from 1

	re *regexp.Regexp
}

// input is what a condition is checked against.
type input struct {
	text string // the user's last words, or the tool's output
	tool string // the tool whose result is the last message
	turn int
}

// match reports whether the condition holds, and returns the groups of its regular expression.
func (w *When) match(in input) (groups []string, ok bool) {
	switch {
	case w.Tool != in.tool:
		return nil, false
	case w.Turn != 0 && w.Turn != in.turn:
		return nil, false
	case w.Exact != "" && bare(in.text) != bare(w.Exact):
		return nil, false
	case w.Contains != "" && !strings.Contains(strings.ToLower(in.text), strings.ToLower(w.Contains)):
		return nil, false
	case w.re != nil:
		groups = w.re.FindStringSubmatch(in.text)
		return groups, groups != nil
	}
	return nil, true
}

// bare returns a text in lower case, without punctuation and spaces at its ends.
func bare(s string) string {
	return strings.ToLower(strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
}

// expand replaces the placeholders in the text of a reply.
func expand(say string, in input, said string, groups []string) string {
	if !strings.Contains(say, "{") {
		return say
	}
	pairs := []string{"{text}", said, "{result}", in.text, "{turn}", strconv.Itoa(in.turn)}
	for i := 1; i < len(groups) && i <= 9; i++ {
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", groups[i])
	}
	return strings.NewReplacer(pairs...).Replace(say)
}
