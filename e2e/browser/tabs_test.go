package browser_test

// Several tabs with calls at the same time.

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// Three tabs of one browser hold calls at once: each has a spoken turn, an interruption and a written turn. They take each step
// together, so that all three calls are in the same state at the same time.
func TestThreeTabsAtOnce(t *testing.T) {
	g := matching(t)
	s := scriptedServer(t, g)
	b := launch(t, g, rig.Options{})
	tabs := map[string]*talk{"alpha": nil, "bravo": nil, "charlie": nil}
	for name := range tabs {
		tabs[name] = open(t, g, b, s.URL)
	}
	together := func(step func(p *talk, name string)) {
		for name, p := range tabs {
			step(p, name)
		}
	}

	together(func(p *talk, _ string) { p.call() })
	g.Expect(s.Calls()).To(gomega.Equal(3))
	together(func(p *talk, name string) { p.says(tones(t, g, "hello from "+name)) })
	together(func(p *talk, name string) {
		p.line("user", gomega.HaveField("Said", "hello from "+name))
		p.answered("You said: hello from " + name)
		p.reaches("listening")
	})
	together(func(p *talk, _ string) { p.writes("say 90 words") })
	together(func(p *talk, _ string) { p.reaches("speaking"); p.hears(3 * time.Second) })
	together(func(p *talk, name string) { p.says(tones(t, g, "now stop "+name+" please")) })
	together(func(p *talk, name string) {
		p.line("assistant", gomega.HaveField("Interrupted", true))
		p.answered("You said: now stop " + name + " please")
		p.reaches("listening")
	})
	together(func(p *talk, name string) { p.writes("goodbye " + name) })
	together(func(p *talk, name string) {
		p.answered("You said: goodbye " + name)
		p.reaches("listening")
	})

	together(func(p *talk, name string) {
		lines := p.view().Lines
		g.Expect(lines).To(gomega.HaveLen(8))
		for other := range tabs {
			if other != name {
				g.Expect(fmt.Sprint(lines)).NotTo(gomega.ContainSubstring(other), "%s hears another tab", name)
			}
		}
		p.hangUp()
	})
	g.Eventually(s.Calls).Should(gomega.BeZero())
}
