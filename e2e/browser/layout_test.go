package browser_test

import (
	"fmt"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/browser/internal/rig"
)

// frame is where an element lies, in CSS pixels, and how much there is to see.
type frame struct {
	Left, Top, Right, Bottom float64
	Width, Height            float64 // of the window
	Content                  float64 // width of the page's content
}

const frameJS = `(() => {
	const box = document.querySelector(%q).getBoundingClientRect();
	return { left: box.left, top: box.top, right: box.right, bottom: box.bottom,
		width: innerWidth, height: innerHeight, content: document.documentElement.scrollWidth };
})()`

// The page fits a telephone and a desk, by day and by night, before, in and after a conversation. Its pictures are kept for whoever
// wants to look.
func TestLayout(t *testing.T) {
	g := matching(t)
	s := scriptedServer(t, g)
	p := open(t, g, launch(t, g, rig.Options{}), s.URL)
	p.fits("idle")

	p.call()
	p.writes("How is the weather in Reykjavík, and will my umbrella survive it?")
	p.answered("umbrella")
	p.reaches("listening")
	p.writes("say 60 words")
	p.reaches("speaking")
	p.fits("speaking")
	g.Expect(p.Press("#interrupt")).To(gomega.Succeed())
	p.line("assistant", gomega.HaveField("Interrupted", true))
	p.reaches("listening")
	p.writes("unbroken" + fmt.Sprintf("%0200d", 7)) // one word, wider than any telephone
	p.answered("unbroken")
	p.reaches("listening")
	p.fits("conversation")
	p.hangUp()
	p.fits("over")
}

// fits looks at the page in both sizes and both colour schemes.
func (p *talk) fits(name string) {
	p.t.Helper()
	for _, size := range []struct{ width, height int64 }{{390, 844}, {1440, 900}} {
		for _, scheme := range []string{"light", "dark"} {
			p.g.Expect(p.Look(size.width, size.height, scheme)).To(gomega.Succeed())
			var f frame
			p.g.Eventually(func(g gomega.Gomega) {
				var err error
				f, err = rig.Evaluate[frame](p.Tab, fmt.Sprintf(frameJS, "#talk"))
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(f.Width).To(gomega.BeEquivalentTo(size.width))
			}).Should(gomega.Succeed())
			p.picture(fmt.Sprintf("%s-%d-%s", name, size.width, scheme))
			p.g.Expect(f.Content).To(gomega.BeNumerically("<=", f.Width), "%s at %d px scrolls sideways", name, size.width)
			p.g.Expect(f.Left).To(gomega.BeNumerically(">=", 0))
			p.g.Expect(f.Right).To(gomega.BeNumerically("<=", f.Width))
			p.g.Expect(f.Top).To(gomega.BeNumerically(">=", 0))
			p.g.Expect(f.Bottom).To(gomega.BeNumerically("<=", f.Height), "%s at %d px hides the button", name, size.width)
		}
	}
}
