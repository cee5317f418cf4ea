package sphinx

// The phrases and the language model of the recogniser.

import (
	"bytes"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestExpand(t *testing.T) {
	classes := map[string][]string{"n": {"one", "two"}}
	for pattern, want := range map[string][]string{
		"stop":                 {"stop"},
		"a (b|c)":              {"a b", "a c"},
		"a [b]":                {"a b", "a "},
		"a [(b|c) d] $n":       {"a b d one", "a b d two", "a c d one", "a c d two", "a  one", "a  two"},
		"(in $n (days|weeks))": {"in one days", "in one weeks", "in two days", "in two weeks"},
	} {
		t.Run(pattern, func(t *testing.T) {
			g := gomega.NewWithT(t)
			forms, rest, err := expand(pattern, classes)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(rest).To(gomega.BeEmpty())
			g.Expect(forms).To(gomega.Equal(want))
		})
	}
	for _, pattern := range []string{"a (b", "a $x", "[", "(a|b"} {
		t.Run("bad "+pattern, func(t *testing.T) {
			_, _, err := expand(pattern, classes)
			gomega.NewWithT(t).Expect(err).To(gomega.HaveOccurred())
		})
	}
}

// TestTheDictionaryHasEveryWordOfThePhrases: the dictionary has every word of the phrases.
func TestTheDictionaryHasEveryWordOfThePhrases(t *testing.T) {
	g := gomega.NewWithT(t)
	p, err := Find(Places{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	dictionary, err := os.ReadFile(p.Dictionary)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	known := map[string]bool{}
	for l := range strings.Lines(string(dictionary)) {
		word, _, _ := strings.Cut(l, " ")
		known[word] = true
	}
	all, err := phrases()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(all).NotTo(gomega.BeEmpty())
	for _, phrase := range all {
		for _, w := range phrase.words {
			if !known[w] {
				t.Errorf("%q of %q is not in the dictionary", w, strings.Join(phrase.words, " "))
			}
		}
	}
}

// TestModelIsADistribution: after any two words, the probabilities of all words add up to one.
func TestModelIsADistribution(t *testing.T) {
	g := gomega.NewWithT(t)
	var file bytes.Buffer
	all := []phrase{{strings.Fields("what is two plus two"), 2}, {strings.Fields("what is the time"), 1}, {strings.Fields("stop"), 0.5}, {strings.Fields("the stop is two"), 1}}
	g.Expect(writeARPA(&file, all)).To(gomega.Succeed())
	prob, weight := readARPA(t, file.String())
	var words []string
	for w := range prob {
		if !strings.Contains(w, " ") && w != "<s>" {
			words = append(words, w)
		}
	}
	var p func(history, w string) float64
	p = func(history, w string) float64 {
		if history == "" {
			return prob[w]
		}
		if v, ok := prob[history+" "+w]; ok {
			return v
		}
		bow, ok := weight[history]
		if !ok {
			bow = 1
		}
		_, shorter, _ := strings.Cut(history, " ")
		return bow * p(shorter, w)
	}
	for _, history := range []string{"", "<s>", "<s> what", "what is", "is two", "two", "the", "stop is", "time"} {
		sum := 0.0
		for _, w := range words {
			sum += p(history, w)
		}
		g.Expect(sum).To(gomega.BeNumerically("~", 1, 0.02), history)
	}
	g.Expect(p("what is", "two")).To(gomega.BeNumerically(">", p("what is", "the")))
	g.Expect(p("<s>", "what")).To(gomega.BeNumerically(">", 0.5), "phrases decide how a sentence begins")
	g.Expect(p("my own", "two")).To(gomega.BeNumerically("<", 0.001), "they do not decide after other words")
	g.Expect(p("my plus", "two")).To(gomega.BeNumerically("<", 0.05), "and hardly after one of their words")
}

func readARPA(t *testing.T, file string) (prob, weight map[string]float64) {
	t.Helper()
	prob, weight = map[string]float64{}, map[string]float64{}
	for l := range strings.Lines(file) {
		f := strings.Split(strings.TrimSpace(l), "\t")
		if len(f) < 2 {
			continue
		}
		number := func(s string) float64 {
			v, err := strconv.ParseFloat(s, 64)
			gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
			return math.Pow(10, v)
		}
		prob[f[1]] = number(f[0])
		if len(f) == 3 {
			weight[f[1]] = number(f[2])
		}
	}
	return prob, weight
}
