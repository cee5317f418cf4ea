package browser_test

// The Talk page for people who do not see it, or not well.

import (
	"fmt"
	"os"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// axe is where scripts/e2e.sh installs axe-core, which checks a page by the rules of WCAG and by what has proved to be good practice.
const axe = "../../.cache/axe/node_modules/axe-core/axe.min.js"

// findings runs axe-core, and returns the rules that the page breaks and the elements that break them.
const findings = `axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target + " " + n.failureSummary).join("; ")))`

// axe-core finds nothing on the page, on a desk, on a telephone, by day and by night: before a call, in it, with a problem, and after it.
func TestAxeFindsNothing(t *testing.T) {
	for _, size := range []size{{1440, 900}, {390, 844}} {
		t.Run(fmt.Sprint(size.width), func(t *testing.T) {
			t.Parallel()
			g := matching(t)
			s := scriptedServer(t, g)
			p := open(t, g, launch(t, g, rig.Options{Permission: rig.Denied}), s.URL)
			p.accessible("idle", size)
			p.call()
			g.Expect(p.view().Problem).To(gomega.Equal("permission"))
			p.writes("say 60 words")
			p.reaches("speaking")
			p.accessible("speaking", size)
			g.Expect(p.Press("#interrupt")).To(gomega.Succeed())
			p.line("assistant", gomega.HaveField("Interrupted", true))
			p.reaches("listening")
			p.hangUp()
			p.accessible("over", size)
		})
	}
}

// accessible checks with axe-core, in both colour schemes.
func (p *talk) accessible(name string, size size) {
	p.t.Helper()
	script, err := os.ReadFile(axe)
	p.g.Expect(err).NotTo(gomega.HaveOccurred(), "scripts/e2e.sh installs axe-core")
	for _, scheme := range []string{"light", "dark"} {
		p.g.Expect(p.Look(size.width, size.height, scheme)).To(gomega.Succeed())
		p.still()
		_, err := rig.Evaluate[bool](p.Tab, string(script)+"\ntrue")
		p.g.Expect(err).NotTo(gomega.HaveOccurred())
		p.g.Expect(rig.Await[[]string](p.Tab, findings)).To(gomega.BeEmpty(), "%s at %d px, %s", name, size.width, scheme)
	}
}

// still waits until the page has changed to its new look.
func (p *talk) still() {
	p.t.Helper()
	p.g.Eventually(func(g gomega.Gomega) {
		g.Expect(rig.Evaluate[int](p.Tab, `document.getAnimations().filter((a) => a instanceof CSSTransition).length`)).To(gomega.BeZero())
	}).Should(gomega.Succeed())
}
