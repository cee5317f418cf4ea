package browser_test

// The layout of the Talk page on small and large screens.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// frame is the position of an element, in CSS pixels, and the sizes of window and content.
type frame struct {
	Left, Top, Right, Bottom float64
	Width, Height            float64 // the size of the window
	Content                  float64 // the width of the page's content
}

const frameJS = `(() => {
	const box = document.querySelector(%q).getBoundingClientRect();
	return { left: box.left, top: box.top, right: box.right, bottom: box.bottom,
		width: innerWidth, height: innerHeight, content: document.documentElement.scrollWidth };
})()`

// The page fits a telephone and a desk, by day and by night, before, in and after a conversation. The screenshots are
// kept.
func TestLayout(t *testing.T) {
	for _, size := range []size{{390, 844}, {1440, 900}, {320, 568}, {568, 320}} {
		t.Run(fmt.Sprint(size.width), func(t *testing.T) {
			t.Parallel()
			g := matching(t)
			s := scriptedServer(t, g)
			p := open(t, g, launch(t, g, rig.Options{}), s.URL)
			p.fits("idle", size)

			p.call()
			p.writes("How is the weather in Reykjavík, and will my umbrella survive it?")
			p.answered("umbrella")
			p.reaches("listening")
			p.writes("say 60 words")
			p.reaches("speaking")
			p.line("assistant", gomega.HaveField("Live", true))
			p.fits("speaking", size)
			p.newestInSight()
			g.Expect(p.Press("#interrupt")).To(gomega.Succeed())
			p.line("assistant", gomega.HaveField("Interrupted", true))
			p.reaches("listening")
			p.writes("unbroken" + strings.Repeat("0", 60)) // one word, wider than a telephone's screen
			p.answered("unbroken")
			p.reaches("listening")
			p.fits("conversation", size)
			p.newestInSight()
			p.hangUp()
			p.fits("over", size)
		})
	}
}

// size is the size of a window, in CSS pixels.
type size struct{ width, height int64 }

// fits checks the layout in both colour schemes.
func (p *talk) fits(name string, size size) {
	p.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		p.g.Expect(p.Look(size.width, size.height, scheme)).To(gomega.Succeed())
		var f frame
		p.g.Eventually(func(g gomega.Gomega) {
			f = p.frame(g, "#talk")
			g.Expect(f.Width).To(gomega.BeEquivalentTo(size.width))
		}).Should(gomega.Succeed())
		p.still()
		p.picture(fmt.Sprintf("%s-%d-%s", name, size.width, scheme))
		p.g.Expect(f.Content).To(gomega.BeNumerically("<=", f.Width), "%s at %d px scrolls sideways", name, size.width)
		p.g.Expect(f.Left).To(gomega.BeNumerically(">=", 0))
		p.g.Expect(f.Right).To(gomega.BeNumerically("<=", f.Width))
		p.g.Expect(f.Top).To(gomega.BeNumerically(">=", 0))
		p.g.Expect(f.Bottom).To(gomega.BeNumerically("<=", f.Height), "%s at %d px hides the button", name, size.width)
		p.g.Eventually(func(g gomega.Gomega) {
			field := p.frame(g, ".composer")
			g.Expect(field.Bottom).To(gomega.BeNumerically("<=", field.Height), "%s at %d px hides the field", name, size.width)
		}).Should(gomega.Succeed())
	}
}

// newestInSight checks that the end of the newest line is visible above the text field.
func (p *talk) newestInSight() {
	p.t.Helper()
	p.g.Eventually(func(g gomega.Gomega) {
		newest, field := p.frame(g, "#transcript > li:last-of-type"), p.frame(g, ".composer")
		g.Expect(newest.Bottom).To(gomega.BeNumerically("<=", field.Top+1))
		g.Expect(p.frame(g, "#scroll").Top).To(gomega.BeNumerically("<=", field.Top-60), "at least two lines are in sight")
	}).Should(gomega.Succeed())
}

// frame returns the position of an element.
func (p *talk) frame(g gomega.Gomega, selector string) frame {
	f, err := rig.Evaluate[frame](p.Tab, fmt.Sprintf(frameJS, selector))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return f
}
