package listenbench

// The turns and what the ways to end them are judged by.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
)

func TestTurns(t *testing.T) {
	g := gomega.NewWithT(t)
	all, err := turns('c', 'c', 1)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(len(all)).To(gomega.BeNumerically(">", 20))
	inner := 0
	for _, turn := range all {
		last := len(turn.pauses) - 1
		g.Expect(turn.pauses[last].where).To(gomega.Equal(atEnd), turn.name)
		for _, p := range turn.pauses[:last] {
			g.Expect(p.where).NotTo(gomega.Equal(atEnd), turn.name)
			g.Expect(p.end-p.begin).To(gomega.And(gomega.BeNumerically(">=", shortest-frame), gomega.BeNumerically("<=", longest)), turn.name)
			inner++
		}
		g.Expect(human.Duration(len(turn.pcm))-turn.pauses[last].begin).To(gomega.BeNumerically(">=", rest-frame), turn.name)
	}
	g.Expect(inner).To(gomega.BeNumerically(">", 10))
	again, err := turns('c', 'c', 1)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(again[3].pauses).To(gomega.Equal(all[3].pauses), "each run has the same turns")
}

func TestApply(t *testing.T) {
	g := gomega.NewWithT(t)
	// Speech for 1 s, a pause of 0.6 s, speech for 1 s, and the end. The detector is 70 ms late.
	h := heard{opened: 0}
	h.pauses = []pause{{inSentence, time.Second, 1600 * time.Millisecond}, {atEnd, 2600 * time.Millisecond, 10 * time.Second}}
	for i := range 1000 {
		h.speech = append(h.speech, i < 107 || i >= 160 && i < 267)
	}
	var r result
	r.apply(&h, nil, bySilence("", 300*time.Millisecond))
	g.Expect(r.cuts[inSentence]).To(gomega.Equal(1))
	g.Expect(r.delays).To(gomega.Equal([]time.Duration{370 * time.Millisecond}))

	found := []estimate{{at: 1300 * time.Millisecond, p: 0.4}, {at: 2900 * time.Millisecond, p: 0.9}}
	r = result{}
	r.apply(&h, found, byEstimate("", 0.5, 4*time.Second))
	g.Expect(r.pauses[inSentence]).To(gomega.Equal(1))
	g.Expect(r.cuts[inSentence]).To(gomega.BeZero())
	g.Expect(r.turns).To(gomega.Equal(1))
	g.Expect(r.delays).To(gomega.Equal([]time.Duration{300 * time.Millisecond}))

	r = result{}
	r.apply(&h, found, byEstimate("", 0.95, 4*time.Second))
	g.Expect(r.delays).To(gomega.Equal([]time.Duration{4270 * time.Millisecond}), "the fallback")
}

func TestDescend(t *testing.T) {
	g := gomega.NewWithT(t)
	var samples []sample
	for i := range 200 {
		x := float64(i%2*2 - 1)
		samples = append(samples, sample{values: []float64{1, x, 0}, over: x > 0})
	}
	weights, loss := descend(samples, []float64{0, 0, 0.5})
	g.Expect(weights[1]).To(gomega.BeNumerically(">", 2))
	g.Expect(weights[2]).To(gomega.BeNumerically("~", 0.5, 0.01), "nothing is known of it: it stays as expected")
	g.Expect(loss).To(gomega.BeNumerically("<", 0.2))
}

// A frame has the judgement of the last window of 512 samples that was complete.
func TestSileroFrames(t *testing.T) {
	speech := sileroFrames([]float32{0.9, 0.2, 0.6}, 10)
	gomega.NewWithT(t).Expect(speech).To(gomega.Equal([]bool{false, false, false, true, true, true, false, false, false, true}))
}
