package pipeline

// How text is cut into clauses.

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"github.com/onsi/gomega"
)

// TestClausesStories shows what is cut and what is not: one rune at a time goes in, each clause comes out on a line with the
// length of the text that was needed to know it.
func TestClausesStories(t *testing.T) {
	datadriven.RunTest(t, "testdata/clauses.txt", func(t *testing.T, d *datadriven.TestData) string {
		c := NewClauses()
		var out strings.Builder
		n := 0
		show := func(clauses []string, when string) {
			for _, clause := range clauses {
				out.WriteString(when + " " + strconv.Quote(clause) + "\n")
			}
		}
		text := strings.ReplaceAll(d.Input, "␤", "\n")
		for _, r := range text {
			n++
			show(c.Push(string(r)), strconv.Itoa(n))
		}
		show(c.Flush(), "end")
		return out.String()
	})
}

// TestClausesProperties: for any text, however it is dealt out, the clauses together are the text, none is longer than the
// limit, only the first and the last are short, and they are the same as for the text in one piece.
func TestClausesProperties(t *testing.T) {
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		text := randomText(rnd)
		checkClauses(t, text, rnd)
		if t.Failed() {
			t.Fatalf("seed %d: %q", seed, text)
		}
	}
}

func FuzzClauses(f *testing.F) {
	b, err := os.ReadFile("testdata/clauses.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b), uint64(1))
	f.Add("``` a, b. C\n", uint64(2))
	f.Add("\xe3\x80", uint64(3))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		checkClauses(t, text, rand.New(rand.NewPCG(seed, 2)))
	})
}

func checkClauses(t *testing.T, text string, rnd *rand.Rand) {
	t.Helper()
	g := gomega.NewWithT(t)
	whole := split(text, len(text))
	g.Expect(strings.Join(whole, "")).To(gomega.Equal(text))
	for i, clause := range whole {
		n := utf8.RuneCountInString(clause)
		g.Expect(n).To(gomega.BeNumerically("<=", MaxClause))
		g.Expect(clause).NotTo(gomega.BeEmpty())
		if i > 0 && i < len(whole)-1 {
			g.Expect(n).To(gomega.BeNumerically(">=", MinClause), clause)
		}
	}
	c := NewClauses()
	var dealt []string
	for rest := text; rest != ""; {
		n := min(1+rnd.IntN(12), len(rest))
		dealt = append(dealt, c.Push(rest[:n])...)
		rest = rest[n:]
		g.Expect(utf8.RuneCountInString(c.text)).To(gomega.BeNumerically("<", MaxClause+lookahead+utf8.UTFMax))
	}
	g.Expect(append(dealt, c.Flush()...)).To(gomega.Equal(whole))
}

func split(text string, size int) []string {
	c := NewClauses()
	var out []string
	for len(text) > size {
		out = append(out, c.Push(text[:size])...)
		text = text[size:]
	}
	out = append(out, c.Push(text)...)
	return append(out, c.Flush()...)
}

func randomText(rnd *rand.Rand) string {
	parts := []string{
		" ", " ", " ", " ", "\n", "\n\n", "  ", ". ", ", ", "! ", "? ", "...", "…", ": ", "; ", "— ", "。", "、", "，", "「", "」", ")", "(", "\"",
		"'", "`", "``", "```", "3.14", "1,000", "10:30", "https://example.org/a,b?c=d.", "Dr.", "e.g.", "A.", "1.", "**", "word", "Word", "x",
		"你好", "こんにちは", "안녕", "é", "e\u0301", "👩\u200d🚀", "\xff", "\xe3\x80", "ª", "\u00ad", "\r\n", "\t", "fmt.Println(a, b)", "۔", "।",
		"a-rather-long-word-without-any-space-in-it-that-goes-on-and-on",
	}
	var b strings.Builder
	for range rnd.IntN(80) {
		b.WriteString(parts[rnd.IntN(len(parts))])
	}
	return b.String()
}

func benchText() string {
	return strings.Repeat("Once there was a lighthouse keeper, who counted the ships. He wrote 3.14 in his book; nobody knew why! Was it tea? ", 20)
}

func BenchmarkClauses(b *testing.B) {
	words := strings.SplitAfter(benchText(), " ")
	b.SetBytes(int64(len(benchText())))
	for b.Loop() {
		c := NewClauses()
		for _, w := range words {
			c.Push(w)
		}
		c.Flush()
	}
}

// BenchmarkSplitAfter is the reference: the naive cut at ". ", of the whole text at once.
func BenchmarkSplitAfter(b *testing.B) {
	text := benchText()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		strings.SplitAfter(text, ". ")
	}
}
