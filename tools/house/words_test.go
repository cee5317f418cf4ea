package house

// The words that the house has replaced: docs/glossary.md has the terms that stand for them.

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// A retiredWord is a word that nobody uses any more, and the term that says the same.
type retiredWord struct {
	word, instead string
}

var retiredWords = []retiredWord{
	{"mourn(s|ed|ing)?", "recover"},
	{"hush(ed|es|ing)?", "pause, silence, stop"},
	{"outgone", "far-end position"},
	{"lowerer", "ducker"},
	{"sluice", "event limiter"},
	{"overdue", "report timeout"},
	{"tamper(s|ed|ing)?", "mutate"},
	{"tape", "playout history, replay buffer"},
}

// TestWordsThatWereReplacedAreGone looks at code, comments and documents, but not at what speaks of former times or of the words themselves.
func TestWordsThatWereReplacedAreGone(t *testing.T) {
	exempt := regexp.MustCompile(`^(CHANGELOG\.md|docs/decisions/.*|docs/glossary\.md|tools/house/words_test\.go|.*/testdata/.*)$`)
	files := tracked(t, "*.go", "*.js", "*.mjs", "*.ts", "*.css", "*.sh", "*.fizz", "*.md", "*.yml", "Makefile")
	for _, r := range retiredWords {
		// A name of several words counts, too: tamperedTable, t.Tamper.
		upper := strings.ToUpper(r.word[:1]) + r.word[1:]
		found := regexp.MustCompile(`\b` + r.word + `(\b|[A-Z_])|(\b|[a-z_])` + upper + `(\b|[A-Z_])`)
		for _, name := range files {
			if exempt.MatchString(name) {
				continue
			}
			for i, line := range bytes.Split(read(t, name), []byte("\n")) {
				if found.Match(line) {
					t.Errorf("%s:%d: say %s: %s", name, i+1, r.instead, bytes.TrimSpace(line))
				}
			}
		}
	}
}
