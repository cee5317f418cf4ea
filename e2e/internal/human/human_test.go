package human

// The prompts of the packages, and the count of wrong words.

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestPrompts(t *testing.T) {
	g := gomega.NewWithT(t)
	all, err := Texts()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(all).To(gomega.HaveKeyWithValue("hello-world", "Hello world."))
	pcm, err := Prompt("hello-world")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(len(pcm)).To(gomega.BeNumerically("~", 14*Rate/10, Rate/4), "1.4 s")
	loudest := int16(0)
	for _, v := range pcm {
		loudest = max(loudest, v)
	}
	g.Expect(loudest).To(gomega.And(gomega.BeNumerically(">", 5000), gomega.BeNumerically("<", 32767)), "it is speech, and not overdriven")
	_, err = Prompt("no-such-prompt")
	g.Expect(err).To(gomega.MatchError(ErrNotInstalled))
}

func TestWrongWords(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(Words("Dial #9, it's 23% of 20 or 102...")).To(gomega.Equal([]string{
		"dial", "pound", "nine", "its", "twenty", "three", "percent", "of", "twenty", "or", "one", "zero", "two",
	}))
	for _, row := range []struct {
		said, heard  string
		wrong, words int
	}{
		{"Hello world.", "hello, World", 0, 2},
		{"press zero for help", "press 0 for help", 0, 4},
		{"one two three", "one too three", 1, 3},
		{"one two three", "one three", 1, 3},
		{"one two three", "and one two three", 1, 3},
		{"one two three", "", 3, 3},
		{"", "one", 1, 0},
	} {
		wrong, words := WrongWords(row.said, row.heard)
		g.Expect([]int{wrong, words}).To(gomega.Equal([]int{row.wrong, row.words}), "%q for %q", row.heard, row.said)
	}
}

func TestSentences(t *testing.T) {
	g := gomega.NewWithT(t)
	prompts, err := Prompts('a', 'm')
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(len(prompts)).To(gomega.BeNumerically(">", 100))
	all, some := Sentences(prompts, 0), Sentences(prompts, 10)
	g.Expect(some).To(gomega.HaveLen(10))
	g.Expect(some[0].Name).To(gomega.Equal(all[0].Name))
	for _, s := range all {
		g.Expect(len(Words(s.Text))).To(gomega.BeNumerically(">", 0), s.Name)
		g.Expect(Duration(len(s.PCM))).To(gomega.BeNumerically("<=", longest), s.Name)
	}
}
