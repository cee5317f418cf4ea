package browser_test

// A cough during an answer, on the Talk page.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// A cough lowers the agent for a moment. The answer goes on meanwhile: no audio is lost or repeated, and the server confirms no barge-in.
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
	g.Eventually(s.Playout).Should(gomega.ContainElements("Hold", "Reject"), "lowered, then at full level again")
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
	place := func(at float64) int { // the first cell of the recording at that moment
		for i := range sound {
			if rec.Time(i) >= at {
				return i
			}
		}
		return len(sound)
	}
	from, to := place(coughed), place(coughed+2000)
	before := find(g, reference, sound[max(0, from-probe):from]) + probe
	after := find(g, reference, sound[to:min(len(sound), to+probe)])
	t.Logf("received %d ms of the answer in the %d ms from the cough on", (after-before)*rig.Cell, (to-from)*rig.Cell)
	// The recording is of what the page received. If the page has fallen silent for the cough, the server sends again what was missed: at most what it sent in the second
	// in which it judges a candidate. e2e/bargein measures the sound that the page plays.
	g.Expect(after-before).To(gomega.And(gomega.BeNumerically("<=", to-from+100/rig.Cell), gomega.BeNumerically(">=", to-from-1000/rig.Cell)), "nothing was skipped")
}
