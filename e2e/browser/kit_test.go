package browser_test

// The helpers of these tests: a server, a browser, and a Talk page with its actions and waits.

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	// patience bounds a wait for the page. A busy machine may be slow; only a failure takes the whole time.
	patience = 40 * time.Second
	// glance is how often a wait looks at the page.
	glance = 50 * time.Millisecond
)

// pictures is the folder for screenshots, which git ignores.
const pictures = "../../.cache/screenshots"

// TestMain checks at the end that no goroutine runs: no call, no server, no browser.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// matching returns matchers with long time-outs.
func matching(t *testing.T) *gomega.WithT {
	t.Helper()
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(patience)
	g.SetDefaultEventuallyPollingInterval(glance)
	g.SetDefaultConsistentlyPollingInterval(glance)
	return g
}

// serve starts a server with a pipeline; both end with the test.
func serve(t *testing.T, g *gomega.WithT, p *pipeline.Pipeline) *rig.Server {
	t.Helper()
	s, err := rig.Serve(p, slog.New(slog.DiscardHandler))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() {
		g.Expect(s.Close()).To(gomega.Succeed())
		g.Expect(p.Close()).To(gomega.Succeed())
	})
	return s
}

// scriptedServer starts a server whose pipeline answers "You said: …" in tones.
func scriptedServer(t *testing.T, g *gomega.WithT) *rig.Server {
	t.Helper()
	return serve(t, g, scripted.New(scripted.Options{}))
}

// launch starts a browser that ends with the test.
func launch(t *testing.T, g *gomega.WithT, o rig.Options) *rig.Browser {
	t.Helper()
	// The test's context ends before its clean-ups run, and would end the browser too early.
	b, err := rig.Launch(context.WithoutCancel(t.Context()), o)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(b.Close)
	return b
}

// talk is a user in front of the Talk page.
type talk struct {
	*rig.Tab
	t *testing.T
	g *gomega.WithT
	// fine are the complaints of the browser that the test expects.
	fine []string
}

// open opens the page and waits until it can be used. When the test has passed, the page's console must have no complaints;
// when it has failed, a screenshot is kept.
func open(t *testing.T, g *gomega.WithT, b *rig.Browser, url string) *talk {
	t.Helper()
	tab, err := b.Open(url)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := &talk{Tab: tab, t: t, g: g}
	t.Cleanup(p.leave)
	g.Eventually(p.View).Should(gomega.HaveField("Phase", "idle"))
	return p
}

func (p *talk) leave() {
	if p.t.Failed() {
		view, err := p.View()
		p.t.Logf("the page at the end: %+v %v", view, err)
		p.picture("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
	}
	complaints, err := p.Complaints()
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	complaints = slices.DeleteFunc(complaints, func(c string) bool {
		return slices.ContainsFunc(p.fine, func(part string) bool { return strings.Contains(c, part) })
	})
	p.g.Expect(complaints).To(gomega.BeEmpty(), "the browser complains")
	p.Close()
}

// picture saves a screenshot.
func (p *talk) picture(name string) {
	p.t.Helper()
	png, err := p.Screenshot()
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	p.g.Expect(os.MkdirAll(pictures, 0o755)).To(gomega.Succeed())
	p.g.Expect(os.WriteFile(filepath.Join(pictures, name+".png"), png, 0o600)).To(gomega.Succeed())
}

// reaches waits until the page shows a phase.
func (p *talk) reaches(phase string) {
	p.t.Helper()
	p.g.Eventually(p.View).Should(gomega.HaveField("Phase", phase))
}

// view reads the page.
func (p *talk) view() rig.View {
	p.t.Helper()
	view, err := p.View()
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	return view
}

// call presses the button and waits until the server listens.
func (p *talk) call() {
	p.t.Helper()
	p.g.Expect(p.Press("#talk")).To(gomega.Succeed())
	p.reaches("listening")
}

// hangUp presses the button again and waits until the call is over.
func (p *talk) hangUp() {
	p.t.Helper()
	p.g.Expect(p.Press("#talk")).To(gomega.Succeed())
	p.reaches("idle")
}

// says speaks into the microphone and returns the time of the first sound, on the page's clock. Silence follows the speech, because a
// microphone never ends.
func (p *talk) says(s rig.Sound) (onsetMS float64) {
	p.t.Helper()
	at, err := p.Say(s.WAV())
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	return at + float64(s.Onset().Milliseconds())
}

// writes sends a message with the keyboard.
func (p *talk) writes(text string) {
	p.t.Helper()
	p.g.Expect(p.Write(text)).To(gomega.Succeed())
}

// hears waits until the page has received this much of the agent's sound in all.
func (p *talk) hears(d time.Duration) {
	p.t.Helper()
	p.g.Eventually(p.Heard).Should(gomega.HaveField("LoudMS", gomega.BeNumerically(">=", d.Milliseconds())))
}

// answered waits for a finished line of the agent that has this text.
func (p *talk) answered(text string) rig.Line {
	p.t.Helper()
	return p.line("assistant", gomega.And(
		gomega.HaveField("Said", gomega.ContainSubstring(text)),
		gomega.HaveField("Live", false),
	))
}

// line waits for a line of this role that matches, and returns the first one.
func (p *talk) line(role string, matcher gomega.OmegaMatcher) rig.Line {
	p.t.Helper()
	var found []rig.Line
	p.g.Eventually(func(g gomega.Gomega) {
		view, err := p.View()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(view.Of(role)).To(gomega.ContainElement(matcher, &found))
	}).Should(gomega.Succeed())
	return found[0]
}

// speech returns a text as speech of flite, followed by a short silence.
func speech(t *testing.T, g *gomega.WithT, text string) rig.Sound {
	t.Helper()
	s, err := rig.Speak(t.Context(), text)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return rig.Join(s, rig.Silence(300*time.Millisecond))
}
