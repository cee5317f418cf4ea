package main

// The flags, the choice of prompts, and a short run of an engine.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFlags(t *testing.T) {
	g := gomega.NewWithT(t)
	o, err := parse([]string{"-prompts", "n-z", "-n", "7", "-engines", "flite"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(o).To(gomega.Equal(options{engines: []string{"flite"}, first: 'n', end: 'z', n: 7, rounds: 5, users: 8}))
	for _, bad := range [][]string{{"-prompts", "m-a"}, {"-prompts", "a"}, {"-prompts", "A-M"}, {"-engines", "other"}, {"-n", "-1"}, {"-rounds", "0"}, {"-users", "65"}} {
		_, err := parse(bad)
		g.Expect(err).To(gomega.HaveOccurred(), "%v", bad)
	}
}

func TestChoice(t *testing.T) {
	g := gomega.NewWithT(t)
	all, err := choose(options{first: 'a', end: 'm'})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	some, err := choose(options{first: 'a', end: 'm', n: 10})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(some).To(gomega.HaveLen(10))
	g.Expect(some[0].name).To(gomega.Equal(all[0].name))
	for _, p := range all {
		g.Expect(p.words()).To(gomega.BeNumerically(">", 0), p.name)
		g.Expect(p.duration()).To(gomega.BeNumerically("<=", longest+before+after), p.name)
	}
}

func TestMiddle(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(middle(nil)).To(gomega.Equal("none"))
	g.Expect(middle([]time.Duration{3 * time.Millisecond, time.Millisecond, 2 * time.Millisecond})).To(gomega.Equal("2 / 3 ms"))
}

// One prompt is understood by the recogniser, and its process takes processor time and memory.
func TestARecogniserIsMeasured(t *testing.T) {
	g := gomega.NewWithT(t)
	prompts, err := choose(options{first: 'c', end: 'c', n: 1})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	s, err := engines[0].recogniser("../../.cache/models", 1)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(s.Close()).To(gomega.Succeed()) }()
	_, err = ready(t.Context(), s)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	used := processorTime()
	heard, err := recognise(t.Context(), s.Impl, prompts[0].pcm)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(heard.text).NotTo(gomega.BeEmpty())
	g.Expect(heard.final).To(gomega.BeNumerically(">", 0))
	g.Expect(processorTime()).To(gomega.BeNumerically(">", used))
	g.Expect(memory()).To(gomega.BeNumerically(">", 10<<20))
}

// Two users speak to a recogniser at the same time.
func TestACrowd(t *testing.T) {
	g := gomega.NewWithT(t)
	prompts, err := choose(options{first: 'c', end: 'c', n: 1})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	finals, err := crowd(t.Context(), scripted.New(scripted.Options{}).Transcriber, prompts, 2, 1)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(finals).To(gomega.HaveLen(2))
	g.Expect(finals).NotTo(gomega.ContainElement(gomega.BeZero()))
}
