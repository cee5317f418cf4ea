package browser_test

// Written messages on the Talk page.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// The user refuses the microphone: the page says so, and answers written messages.
func TestWithoutPermissionThePageAnswersWhatIsWritten(t *testing.T) {
	t.Parallel()
	g := matching(t)
	s := scriptedServer(t, g)
	p := open(t, g, launch(t, g, rig.Options{Permission: rig.Denied}), s.URL)

	p.call()
	view, err := p.View()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(view.Problem).To(gomega.Equal("permission"))
	g.Expect(view.ProblemText).To(gomega.ContainSubstring("allow it in the browser's address bar"))
	g.Expect(view.Remedy).NotTo(gomega.BeEmpty())
	g.Expect(view.TextOnly).To(gomega.BeTrue())
	g.Expect(view.State).To(gomega.Equal("Waiting for your message"))
	g.Expect(view.CanMute).To(gomega.BeFalse(), "there is nothing to mute")

	p.fits("refused", size{390, 844})
	p.fits("refused", size{1440, 900})

	p.writes("good evening")
	p.answered("You said: good evening")
	p.hears(500 * time.Millisecond)
	p.reaches("listening")
	p.hangUp()
}

// Writing needs no button: the first message places the call.
func TestWritingMakesTheCall(t *testing.T) {
	t.Parallel()
	g := matching(t)
	s := scriptedServer(t, g)
	p := open(t, g, launch(t, g, rig.Options{Permission: rig.Denied}), s.URL)

	p.writes("hello")
	p.answered("You said: hello")
	p.hears(300 * time.Millisecond)
	view, err := p.View()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(view.Problem).To(gomega.Equal("none"), "nobody asked for the microphone")
	p.reaches("listening")
	p.hangUp()
	g.Eventually(s.Calls).Should(gomega.BeZero())
}
