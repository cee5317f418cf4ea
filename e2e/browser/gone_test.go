package browser_test

// The server stops during a call of the Talk page, and comes back.

import (
	"path/filepath"
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
		gomega.HaveField("Said", gomega.ContainSubstring("One")), gomega.HaveField("Note", gomega.ContainSubstring("ended before")),
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

// The server dies while the agent speaks, and starts again with the same data. The page needs no user: the call goes on with its conversation, and the agent is heard again.
func TestTheServerIsKilledAndTheCallGoesOn(t *testing.T) {
	t.Parallel()
	g := matching(t)
	data := filepath.Join(t.TempDir(), "data")
	first, err := rig.Start(root, "--pipeline", "scripted", "--listen", "127.0.0.1:0", "--data", data)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(first.Kill)
	p := open(t, g, launch(t, g, rig.Options{}), first.URL)
	p.fine = []string{"ERR_CONNECTION_REFUSED", "/restart)"} // the browser's complaints about a server that is gone, and about one that cannot restart the call of another process
	p.call()
	p.writes("my name is Ada")
	p.answered("You said: my name is Ada")
	p.reaches("listening")
	p.writes("say 100 words")
	p.reaches("speaking")
	p.picture("before-the-kill")
	g.Eventually(first.Journalled).Should(gomega.BeTrue())

	first.Kill()
	killed := time.Now()
	second, err := rig.Start(root, "--pipeline", "scripted", "--listen", strings.TrimPrefix(first.URL, "http://"), "--data", data)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(second.Kill)
	p.reaches("reconnecting")
	t.Logf("the page noticed after %v", time.Since(killed).Round(time.Millisecond))
	before, err := p.Heard()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p.picture("killed")
	p.reaches("speaking")
	p.hears(time.Duration(before.LoudMS)*time.Millisecond + 100*time.Millisecond)
	t.Logf("the agent is heard again after %v", time.Since(killed).Round(time.Millisecond))
	p.picture("goes-on")
	p.writes("are you there")
	p.answered("You said: are you there")
	g.Expect(p.view().Problem).To(gomega.Equal("none"))
	p.hangUp()
}
