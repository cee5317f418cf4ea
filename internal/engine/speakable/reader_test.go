package speakable

// Nasty texts of models, and what a synthesizer says for them.

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// say reads a whole response, cut into clauses as the server does, and joins what is said with "|".
func say(language Language, text string) string {
	r := Reader{Language: language}
	c := pipeline.NewClauses()
	var said []string
	for _, clause := range append(c.Push(text), c.Flush()...) {
		if s := r.Clause(clause); s != "" {
			said = append(said, strings.ReplaceAll(s, "\n", "␤"))
		}
	}
	return strings.Join(said, "|")
}

func TestNastyTexts(t *testing.T) {
	datadriven.RunTest(t, "testdata/texts.txt", func(_ *testing.T, d *datadriven.TestData) string {
		var language Language
		if d.Cmd == "english" {
			language = English
		}
		return say(language, strings.ReplaceAll(d.Input, "␤", "")) + "\n"
	})
}

// TestWordsStay: a text of words alone is said as it is.
func TestWordsStay(t *testing.T) {
	g := gomega.NewWithT(t)
	const text = "Well, I think so. That is what she said; don't you agree? Yes!"
	g.Expect(strings.ReplaceAll(say(English, text), "|", "")).To(gomega.Equal(text))
	g.Expect(strings.ReplaceAll(say(Any, "Ça coûte 5 €, soit 10 % de plus."), "|", "")).To(gomega.Equal("Ça coûte 5 €, soit 10 % de plus."))
}

// FuzzReader: no text makes a reader fail, and what is said has a length in proportion to the text.
func FuzzReader(f *testing.F) {
	b, err := os.ReadFile("testdata/texts.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Add("[a](b) ![c][d] <e> `f` ~~g~~ \\*h\\* $1.00 1/2 12:00 http://x")
	f.Fuzz(func(t *testing.T, text string) {
		for _, language := range []Language{Any, English} {
			said := say(language, text)
			if len(said) > 40*len(text)+len(codeNote) {
				t.Fatalf("%d bytes are said for %d bytes", len(said), len(text))
			}
			if utf8.ValidString(text) && !utf8.ValidString(said) {
				t.Fatalf("not valid UTF-8: %q", said)
			}
		}
	})
}
