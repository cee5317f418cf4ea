package house

// The words that the house has replaced: docs/glossary.md has the terms that stand for them.

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A retiredWord is a word that nobody uses any more, and the term that says the same.
type retiredWord struct {
	word, instead string
	// notYet are the folders that still have it. The list only gets shorter.
	notYet []string
}

var retiredWords = []retiredWord{
	{"mourn(s|ed|ing)?", "recover", nil},
	{"hush(ed|es|ing)?", "pause, silence, stop", []string{"sdk/native", "server/session"}},
	{"outgone", "far-end position", nil},
	{"lowerer", "ducker", nil},
	{"sluice", "event limiter", nil},
	{"overdue", "report timeout", nil},
	{"tamper(s|ed|ing)?", "mutate", nil},
	{"tape", "playout history, replay buffer", []string{"server/session"}},
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
			if exempt.MatchString(name) || slices.Contains(r.notYet, filepath.Dir(name)) {
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
