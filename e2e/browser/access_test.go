package browser_test

// The Talk page for people who do not see it, or not well.

import (
	"fmt"
	"os"
	"strings"
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

// axe-core finds nothing on a page of the documents with results of a search, which fits the window. The search leads to the heading.
func TestTheDocuments(t *testing.T) {
	t.Parallel()
	g := matching(t)
	tab, err := launch(t, g, rig.Options{}).Open(scriptedServer(t, g).URL + "/docs/models")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := &talk{Tab: tab, t: t, g: g}
	t.Cleanup(p.leave)
	p.evaluates(`(() => { const field = document.forms.search.words; field.value = "idempotent requests"; field.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`)
	p.evaluates(`document.querySelectorAll("#found a").length > 0`)
	for _, size := range []size{{1440, 900}, {390, 844}} {
		p.accessible("docs", size)
		p.picture(fmt.Sprintf("docs-%d-dark", size.width))
		p.evaluates(`document.documentElement.scrollWidth <= innerWidth`)
	}
	p.evaluates(`document.forms.search.requestSubmit() ?? true`)
	p.evaluates(`location.pathname === "/docs/once"`)
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

// announcements keeps the texts that a screen reader reads by itself: those that appear in a live region.
const announcements = `(() => {
	globalThis.told = [];
	const live = '[aria-live]:not([aria-live="off"]), [role="status"], [role="log"], [role="alert"]';
	new MutationObserver((all) => {
		for (const { target, addedNodes } of all) {
			const region = (target.closest ? target : target.parentElement)?.closest(live);
			const text = [...addedNodes].map((n) => n.textContent).join("") || target.textContent;
			if (region && text && told.at(-1) !== text) told.push(text);
		}
	}).observe(document.body, { subtree: true, childList: true, characterData: true });
	return true;
})()`

// A screen reader hears the states of the call and what was understood, once, and no captions.
func TestAScreenReaderHearsStatesAndFinalLines(t *testing.T) {
	t.Parallel()
	g := matching(t)
	s := scriptedServer(t, g)
	p := open(t, g, launch(t, g, rig.Options{}), s.URL)
	p.evaluates(announcements)
	p.evaluates(`(() => {
		globalThis.captions = 0;
		new MutationObserver(() => captions++).observe(document.querySelector("#caption"), { subtree: true, childList: true, characterData: true });
		return true;
	})()`)
	p.call()
	p.says(tones(t, g, "the ships are in the harbour"))
	p.answered("You said: the ships are in the harbour")
	p.reaches("listening")
	p.hangUp()
	p.evaluates(`captions > 1`)
	g.Expect(rig.Evaluate[[]string](p.Tab, "told")).To(gomega.And(
		gomega.ContainElements("Connecting", "Listening", "You are speaking", "Speaking", "Ready when you are"),
		gomega.ContainElement("You: the ships are in the harbour"),
		gomega.HaveEach(gomega.Not(gomega.HavePrefix("Antiphon:"))),
		gomega.WithTransform(func(told []string) (n int) {
			for _, text := range told {
				if strings.Contains(text, "ship") {
					n++
				}
			}
			return n
		}, gomega.Equal(1)),
	))
}
