package browser_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/browser/internal/rig"
)

// Three tabs of one browser talk at once, each for itself: a spoken turn, an interruption, a written turn.
func TestThreeTabsAtOnce(t *testing.T) {
	g := matching(t)
	s := scriptedServer(t, g)
	b := launch(t, g, rig.Options{})
	names := []string{"alpha", "bravo", "charlie"}
	ended := t.Run("tabs", func(t *testing.T) {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				g := patient(t)
				p := open(t, g, b, s.URL)
				lines := conversation(p, name)
				for _, other := range names {
					if other != name {
						g.Expect(fmt.Sprint(lines)).NotTo(gomega.ContainSubstring(other), "it hears another tab")
					}
				}
			})
		}
	})
	g.Expect(ended).To(gomega.BeTrue())
	g.Eventually(s.Calls).Should(gomega.BeZero())
}

// conversation is the story of one tab; it gives what the page shows in the end.
func conversation(p *talk, name string) []rig.Line {
	p.t.Helper()
	p.call()
	p.says(tones(p.t, p.g, "hello from "+name))
	p.line("user", gomega.HaveField("Said", "hello from "+name))
	p.answered("You said: hello from " + name)
	p.reaches("listening")

	p.writes("say 60 words")
	p.reaches("speaking")
	p.hears(3 * time.Second)
	p.says(tones(p.t, p.g, "now stop "+name+" please"))
	p.line("assistant", gomega.HaveField("Interrupted", true))
	p.answered("You said: now stop " + name + " please")
	p.reaches("listening")

	p.writes("goodbye " + name)
	p.answered("You said: goodbye " + name)
	p.reaches("listening")
	lines := p.view().Lines
	p.g.Expect(lines).To(gomega.HaveLen(8))
	p.hangUp()
	return lines
}
