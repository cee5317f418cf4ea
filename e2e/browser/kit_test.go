package browser_test

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
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
)

const (
	// patience is for what a user waits for. A machine that is busy with other things may be slow; only a failure takes it all.
	patience = 40 * time.Second
	// glance is how often the page is looked at.
	glance = 50 * time.Millisecond
)

// pictures is where screenshots go, ignored by git.
const pictures = "../../.cache/screenshots"

// TestMain checks in the end that nothing runs on: no call, no server, no browser.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// matching makes matchers that wait generously.
func matching(t *testing.T) *gomega.WithT {
	t.Helper()
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(patience)
	g.SetDefaultEventuallyPollingInterval(glance)
	g.SetDefaultConsistentlyPollingInterval(glance)
	return g
}

// serve starts a server around a pipeline; both end with the test.
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

// scriptedServer is a server whose pipeline answers "You said: …" in tones.
func scriptedServer(t *testing.T, g *gomega.WithT) *rig.Server {
	t.Helper()
	return serve(t, g, scripted.New(scripted.Options{}))
}

// launch starts a browser that ends with the test.
func launch(t *testing.T, g *gomega.WithT, o rig.Options) *rig.Browser {
	t.Helper()
	// The test's context ends before its clean-ups run, and would take the browser along.
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
	// fine are complaints of the browser that belong to the test's story.
	fine []string
}

// open opens the page and waits until it can be used. When the test has passed, the page must not have complained of anything;
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

// picture keeps a screenshot.
func (p *talk) picture(name string) {
	p.t.Helper()
	png, err := p.Screenshot()
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	p.g.Expect(os.MkdirAll(pictures, 0o755)).To(gomega.Succeed())
	p.g.Expect(os.WriteFile(filepath.Join(pictures, name+".png"), png, 0o600)).To(gomega.Succeed())
}

// reaches waits for a phase.
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

// says speaks into the microphone and gives the moment, on the page's clock, of the first sound of it. Silence follows what is
// said, because a microphone never ends.
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

// hears waits until this much of the agent's voice has been heard in all.
func (p *talk) hears(d time.Duration) {
	p.t.Helper()
	p.g.Eventually(p.Heard).Should(gomega.HaveField("LoudMS", gomega.BeNumerically(">=", d.Milliseconds())))
}

// answered waits for a finished line of the agent's that has this text.
func (p *talk) answered(text string) rig.Line {
	p.t.Helper()
	return p.line("assistant", gomega.And(
		gomega.HaveField("Said", gomega.ContainSubstring(text)),
		gomega.HaveField("Live", false),
	))
}

// line waits for a line of a role and gives the first that matches.
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

// speech is flite's voice, with a moment of silence behind it.
func speech(t *testing.T, g *gomega.WithT, text string) rig.Sound {
	t.Helper()
	s, err := rig.Speak(t.Context(), text)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return rig.Join(s, rig.Silence(300*time.Millisecond))
}
