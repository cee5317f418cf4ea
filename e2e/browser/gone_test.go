package browser_test

// The server stops during a call of the Talk page, and comes back.

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

const root = "../.."

// The server dies in the middle of an answer. The page says so, and when the server is back the button makes a new call.
func TestTheServerIsKilledAndComesBack(t *testing.T) {
	t.Parallel()
	g := matching(t)
	first, err := rig.Start(root, "--pipeline", "scripted", "--listen", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { first.Kill() })
	p := open(t, g, launch(t, g, rig.Options{}), first.URL)
	p.fine = []string{"ERR_CONNECTION_REFUSED"} // the browser's complaint about a server that is gone
	p.call()
	p.writes("say 100 words")
	p.hears(time.Second)

	first.Kill()
	killed := time.Now()
	p.reaches("reconnecting")
	noticed := time.Since(killed)
	g.Eventually(p.View).Should(gomega.And(gomega.HaveField("Phase", "error"), gomega.HaveField("Problem", "server-gone")))
	t.Logf("the page noticed after %v and gave up after %v", noticed.Round(time.Millisecond), time.Since(killed).Round(time.Millisecond))
	view := p.view()
	g.Expect(view.ProblemText).To(gomega.ContainSubstring("Check that it is running"))
	g.Expect(view.Talk).To(gomega.Equal("Talk"))
	g.Expect(view.Of("assistant")).To(gomega.ConsistOf(gomega.And( // the transcript stays
		gomega.HaveField("Said", gomega.ContainSubstring("one")), gomega.HaveField("Note", gomega.ContainSubstring("ended before")),
	)))
	p.picture("gone")

	// The server is still gone: the button shows the error again, at once.
	g.Expect(p.Press("#talk")).To(gomega.Succeed())
	g.Eventually(p.View).Should(gomega.And(gomega.HaveField("Phase", "error"), gomega.HaveField("Problem", "server-gone")))

	second, err := rig.Start(root, "--pipeline", "scripted", "--listen", strings.TrimPrefix(first.URL, "http://"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(second.Kill)
	p.call()
	g.Expect(p.view().Problem).To(gomega.Equal("none"))
	p.says(tones(t, g, "are you there"))
	p.answered("You said: are you there")
	p.reaches("listening")
	p.hangUp()
}
