package browser_test

// The Talk page of a server without models and packages for speech.

import (
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
)

// On a machine without models and packages for speech the page says what is missing and how to get it, and answers in writing.
func TestWithoutSpeechPackagesThePageSaysSoAndAnswersInWriting(t *testing.T) {
	t.Parallel()
	g := matching(t)
	nothing := t.TempDir()
	pipe, err := embedded.New(t.Context(), embedded.Options{Flite: filepath.Join(nothing, "flite"), Models: nothing})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	s := serve(t, g, pipe)
	p := open(t, g, launch(t, g, rig.Options{}), s.URL)

	g.Eventually(p.View).Should(gomega.HaveField("Components", gomega.HaveExactElements(
		gomega.And(gomega.HaveField("State", "missing"), gomega.HaveField("Install", sherpa.Install)),
		gomega.And(gomega.HaveField("State", "ready"), gomega.HaveField("Install", "")),
		gomega.And(gomega.HaveField("State", "missing"), gomega.HaveField("Install", gomega.ContainSubstring("apt-get install flite"))),
	)))
	g.Expect(p.view().Hint).To(gomega.ContainSubstring("Writing works"))
	p.writes("why is the sky blue")
	p.answered("antiphon setup") // a first question without an answer shows the way on
	p.reaches("listening")
	p.writes("what is two plus two")
	p.answered("four")
	g.Eventually(p.View).Should(gomega.And(gomega.HaveField("Phase", "listening"), gomega.HaveField("Problem", "none")))
	heard, err := p.Heard()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(heard.LoudMS).To(gomega.BeZero())
	p.fits("missing", size{390, 844})
	p.fits("missing", size{1440, 900})
	p.hangUp()
}
