package main

// The prompts, and a short run of the part voices.

import (
	"math/rand/v2"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
)

func TestPrompts(t *testing.T) {
	g := gomega.NewWithT(t)
	caller, err := prompts('a', 'm')
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(len(caller)).To(gomega.BeNumerically(">", 100))
	some := sentences(caller, 10)
	g.Expect(some).To(gomega.HaveLen(10))
	g.Expect(talk(some, 2, human.Rate, rand.New(rand.NewPCG(1, 1)))).To(gomega.HaveLen(human.Rate))
	g.Expect(run(t.Context(), options{parts: "other"})).To(gomega.MatchError(gomega.ContainSubstring("want voices or noise")))
}

// Human talk in the background of a human caller, for 5 minutes.
func TestTalkInTheBackground(t *testing.T) {
	g := gomega.NewWithT(t)
	caller, err := prompts('a', 'm')
	g.Expect(err).NotTo(gomega.HaveOccurred())
	others, err := prompts('n', 'z')
	g.Expect(err).NotTo(gomega.HaveOccurred())
	onsets, ducks := alone(newListener(true), caller, others, 18, 1)
	g.Expect([]int{onsets, ducks}).To(gomega.Equal([]int{0, 0}))
	onsets, _ = alone(newListener(false), caller, others, 18, 1)
	g.Expect(onsets).To(gomega.BeNumerically(">", 50))
}

// A caller who becomes 10 dB softer is heard in the first or second sentence.
func TestASofterCaller(t *testing.T) {
	g := gomega.NewWithT(t)
	caller, err := prompts('a', 'm')
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for k := 0; k < len(caller); k += 30 {
		sentence, _ := heardIn(caller, k, 10)
		g.Expect(sentence).To(gomega.BeNumerically("<", 2), caller[k].name)
	}
}
