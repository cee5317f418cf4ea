package browser_test

// A person in front of the Talk page: neural recognition and a neural voice, as `make talk` serves them.

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// The sentences that the person says. TestAPersonIsUnderstood of package e2e has ten others.
var sentences = []string{
	"agent-newlocation", "all-circuits-busy-now", "conf-full", "conf-leaderhasleft", "conf-lockednow",
	"conf-onlyperson", "confbridge-removed", "dir-nomatch", "dir-welcome", "enter-num-blacklist",
}

// neural starts antiphon serve with the neural models, and opens its page.
func neural(t *testing.T, g *gomega.WithT) *talk {
	t.Helper()
	server, err := rig.Start(root, "--pipeline", "sherpa", "--listen", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(server.Kill)
	return open(t, g, launch(t, g, rig.Options{}), server.URL)
}

// The person says ten sentences. Nine of them are understood but for one word. Each one is answered aloud, until the person stops the answer.
// The server may take a pause within a sentence for the end of a turn. The sentence is then two turns, which one answer follows.
func TestAPersonTalksWithThePage(t *testing.T) {
	g := matching(t)
	texts, err := human.Texts()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := neural(t, g)
	g.Eventually(p.View).Should(gomega.HaveField("Components", gomega.And(
		gomega.HaveLen(3), gomega.HaveEach(gomega.HaveField("State", pipeline.StateReady)),
		gomega.ContainElements(gomega.HaveField("Text", gomega.ContainSubstring("moonshine")), gomega.HaveField("Text", gomega.ContainSubstring("piper"))),
	)))
	p.call()
	began, understood, turns := time.Now(), 0, 0
	for _, name := range sentences {
		said, err := human.Prompt(name)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		heard, parts := p.answers(said, turns)
		if n, _ := human.WrongWords(texts[name], heard); n <= 1 {
			understood++
		} else {
			t.Logf("%s: %d words wrong: %q for %q", name, n, heard, texts[name])
		}
		turns += parts
		g.Expect(p.Key(kb.Escape)).To(gomega.Succeed())
		p.reaches("listening")
	}
	t.Logf("%d of %d sentences are understood, in %d turns and %v", understood, len(sentences), turns, time.Since(began).Round(time.Second))
	g.Expect(understood).To(gomega.BeNumerically(">=", 9))
	g.Expect(turns).To(gomega.BeNumerically("<=", len(sentences)+1), "one pause in ten is taken for an end")
	energy, err := p.Energy()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(energy).To(gomega.BeNumerically(">", 0.001), "the connection's own statistics")
	p.picture("person")
	p.hangUp()
}

// The page waits for a number that the person says with pauses: it is one turn. server_vad ends a turn after half of such a pause.
func TestThePageWaitsForTheNumber(t *testing.T) {
	g := matching(t)
	p := neural(t, g)
	p.call()
	var parts []rig.Sound
	for _, name := range []string{"vm-num-i-have", "digits/7", "digits/8", "digits/4"} {
		said, err := human.Prompt(name)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		parts = append(parts, said, rig.Silence(time.Second))
	}
	p.says(rig.Join(parts...))
	number := p.line("user", gomega.HaveField("Live", false))
	g.Expect(number.Said).To(gomega.MatchRegexp("(?i)(7|seven).*(8|eight).*(4|four)"))
	p.hangUp()
}

// answers says a sentence after so many turns of the user, and waits until the agent is heard after it. It returns the words that the server has
// understood, and in how many turns.
func (p *talk) answers(said rig.Sound, turns int) (words string, parts int) {
	p.t.Helper()
	end := p.says(said) + float64((said.Duration() - said.Onset()).Milliseconds())
	p.g.Eventually(func() (float64, error) { return rig.Evaluate[float64](p.Tab, "performance.now()") }).Should(gomega.BeNumerically(">=", end))
	before, err := p.Heard()
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	p.hears(time.Duration(before.LoudMS)*time.Millisecond + 250*time.Millisecond)
	var lines []rig.Line
	p.g.Eventually(func() []rig.Line { lines = p.view().Of("user")[turns:]; return lines }).Should(gomega.And(
		gomega.Not(gomega.BeEmpty()), gomega.HaveEach(gomega.HaveField("Live", false)),
	))
	for _, l := range lines {
		words += " " + l.Said
	}
	return words, len(lines)
}
