package bargein

// Barge-in in a real browser: after a cough every word was audible, and a cut is at the last audible position.

import (
	"math"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// town is a network link as within a town.
var town = rig.Link{RTT: 40 * time.Millisecond}

// talking opens a page with a call, and returns it with the tracker of the agent's response to say.
func talking(t *testing.T, say string) (*caller, *tracker) {
	t.Helper()
	g := gomega.NewWithT(t)
	h := openWith(t, map[string][]byte{"/page.js": []byte(pageJS)})
	server := h.tones()
	reference, err := h.responseAudio(server, say)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	b, err := rig.Launch(t.Context(), rig.Options{RecordOutput: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(b.Close)
	c, err := h.call(b, ours, server, town)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { g.Expect(c.close()).To(gomega.Succeed()) })
	return c, newTracker(reference, tonesWindow)
}

// TestEveryWordIsHeardAfterACough: a cough ducks the agent, the server rejects the candidate, and every word is audible in the tab's
// output.
func TestEveryWordIsHeardAfterACough(t *testing.T) {
	const say = "say 20 words"
	g := gomega.NewWithT(t)
	c, tr := talking(t, say)
	g.Expect(c.write(say)).To(gomega.Succeed())
	g.Expect(c.await("output_audio_buffer.started", patience)).To(gomega.Succeed())
	g.Expect(pause(t.Context(), 4*time.Second)).To(gomega.Succeed())
	before, err := c.tab.Concealed()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	said, err := c.tab.Say(rig.Join(rig.Cough(), rig.Silence(time.Second)).WAV())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c.await("antiphon.barge_in.rejected", patience)).To(gomega.Succeed())
	g.Expect(c.await("output_audio_buffer.stopped", 2*patience)).To(gomega.Succeed())
	rec, err := c.tab.Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := tr.follow(rec)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	d := p.disturbed(made{"cough", said, said + float64(rig.Cough().Duration().Milliseconds())}, rec.At(len(rec.PCM)-1))
	after, err := c.tab.Concealed()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	// A busy machine delivers packets late, and the browser conceals the gaps. That audio is missing as well; the browser reports how
	// much it is.
	bridged := max(0, math.Round(after-before)+rec.Gaps()) // the browser's count may fall by a sample
	t.Logf("%+v, bridged by the browser: %.0f ms", d, bridged)
	g.Expect(d.left).To(gomega.BeTrue(), "the cough had no effect")
	g.Expect(d.lost).To(gomega.BeNumerically("<=", bridged), "ms of words that were not heard")
	g.Expect(c.cancelled()).To(gomega.BeZero())
	whole := len(tr.reference)
	g.Expect(p.reached(len(p.steps))).To(gomega.BeNumerically("~", whole, trackRate/2), "it was heard to its end")
}

// TestAnInterruptionCutsWhatIsHeard: the agent is ducked and then silent, and the server's position of the cut is the last audible
// position.
func TestAnInterruptionCutsWhatIsHeard(t *testing.T) {
	g := gomega.NewWithT(t)
	c, tr := talking(t, longRequest)
	words, err := rig.Speak(t.Context(), phrases[1])
	g.Expect(err).NotTo(gomega.HaveOccurred())
	one, err := c.interrupted(t.Context(), rig.Join(words, rig.Silence(time.Second)), 4*time.Second, tr)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Logf("%+v", one)
	g.Expect(one.ahead).To(gomega.BeTrue(), "the prediction comes first")
	g.Expect(one.measured).To(gomega.BeTrue())
	g.Expect(one.told).To(gomega.BeNumerically("~", one.heard, 60))
	g.Expect(one.told).To(gomega.BeNumerically(">=", one.atLevel-100))
}
