package browser_test

// A cough during an answer, on the Talk page.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// A cough holds the agent for a moment. Playout then resumes where it was held. No audio is lost, and the server confirms no barge-in.
func TestACoughDoesNotStopTheAnswer(t *testing.T) {
	g := matching(t)
	pipe := realSpeech(t, g)
	voice := &recordingSynthesizer{Synthesizer: pipe.Synthesizer}
	pipe.Synthesizer = voice
	s := serve(t, g, pipe)
	p := open(t, g, launch(t, g, rig.Options{}), s.URL)
	p.call()

	p.writes("count to ten")
	g.Eventually(p.Heard).Should(gomega.HaveField("SinceMS", gomega.BeNumerically(">=", 2000)))
	coughed := p.says(rig.Join(rig.Cough(), rig.Silence(time.Second)))
	g.Eventually(s.Playout).Should(gomega.ContainElements("Hold", "Reject"), "held, then resumed")
	line := p.answered("ten")
	p.reaches("listening")
	g.Expect(line.Interrupted).To(gomega.BeFalse())
	g.Expect(p.view().Lines).To(gomega.HaveLen(2), "a cough is not a turn")
	p.hangUp()

	truncated, err := s.Recorded("conversation.item.truncated")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(truncated).To(gomega.BeEmpty())
	rec, err := p.Recording()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	reference, sound := envelope(voice.clauses(g, line.Said)), rig.Envelope(rec.PCM, rec.Rate)
	stop, again := longestSilence(rec, sound, coughed+coughMS, 2000)
	before := find(g, reference, sound[max(0, stop-probe):stop]) + probe
	after := find(g, reference, sound[again:min(len(sound), again+probe)])
	t.Logf("silent %.0f ms after the cough began, for %d ms; stopped at %d ms of the answer and went on at %d ms",
		rec.Time(stop)-coughed, (again-stop)*rig.Cell, before*rig.Cell, after*rig.Cell)
	g.Expect(loudBetween(reference, before, after)).To(gomega.BeNumerically("<=", 100/rig.Cell), "something was skipped")
	g.Expect(before-after).To(gomega.BeNumerically("<=", 100/rig.Cell), "something was said twice")
}

// loudBetween returns how many cells between two positions of an envelope have sound.
func loudBetween(envelope []float64, from, to int) (n int) {
	for i := from; i < to; i++ {
		if envelope[i] >= rig.Loud {
			n++
		}
	}
	return n
}

// coughMS is the length of a cough. The silence that it causes ends after it. A silence that ends earlier is between two words.
const coughMS = 350

// longestSilence returns the longest silence that ends between after and after+within, in ms on the recording's clock: its first cell,
// and the first cell with sound after it.
func longestSilence(rec *rig.Recording, sound []float64, after, within float64) (from, to int) {
	last := 0 // the cell after the last sound
	for i, level := range sound {
		if level < rig.Loud {
			continue
		}
		if at := rec.Time(i); last > 0 && at > after && at < after+within && i-last > to-from {
			from, to = last, i
		}
		last = i + 1
	}
	return from, to
}
