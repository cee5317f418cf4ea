package release

// The files of the release, in a browser: they hold calls and free memory.

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// visit opens a page that has the script of the release, beside a server that it may call.
func visit(t *testing.T) (*gomega.WithT, *rig.Tab, *rig.Server) {
	t.Helper()
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(40 * time.Second)
	files := http.FileServer(http.Dir("../../sdk/npm/dist"))
	site := rig.NewSite(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<!doctype html><link rel="icon" href="data:,"><script src="antiphon.js"></script>`)) // writing fails when the browser is gone
			return
		}
		files.ServeHTTP(w, r)
	})
	return g, site.Visit(t, rig.StartBrowser(t, rig.Options{}), nil), site.Server
}

// does runs a script in the page; a promise is waited for.
func does(g *gomega.WithT, tab *rig.Tab, script string) {
	_, err := rig.Await[bool](tab, "(async () => {"+script+"; return true })()")
	g.Expect(err).NotTo(gomega.HaveOccurred())
}

// The program that TinyGo made holds calls: in writing, by voice, with an interruption, one after the other, and lets them go.
func TestTheReleaseHoldsCalls(t *testing.T) {
	g, tab, server := visit(t)
	is := func(expression string) func() (bool, error) {
		return func() (bool, error) { return rig.Await[bool](tab, "(async () => Boolean("+expression+"))()") }
	}
	speech, err := rig.Speak(t.Context(), "stop it now please, that is enough")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for range 3 {
		does(g, tab, `globalThis.call = Antiphon.connect({ url: "`+server.URL+`" }); await call.ready; call.send("say 60 words")`)
		g.Eventually(is(`call.state === "agent-speaking"`)).Should(gomega.BeTrue())
		g.Eventually(tab.Heard).Should(gomega.HaveField("LoudMS", gomega.BeNumerically(">", 200)))
		_, err = tab.Say(speech.WAV())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Eventually(is(`call.transcript.some((e) => e.interrupted) && call.metrics.interruptions.candidates > 0`)).Should(gomega.BeTrue())
		g.Eventually(is(`call.transcript.at(-1).role === "agent" && call.state === "listening"`)).Should(gomega.BeTrue())
		g.Expect(is(`call.machines === "same"`)()).To(gomega.BeTrue(), "the machines are the server's")
		does(g, tab, `await call.close()`)
	}
	g.Expect(is(`Antiphon.usage().functions === 0`)()).To(gomega.BeTrue())
	g.Expect(tab.Complaints()).To(gomega.BeEmpty())
}

// used is what the page's calls hold.
type used struct{ Functions, Memory int }

// Calls that come and go leave no memory taken: the program collects it between two events. Its memory grows by 1 MiB or more at a
// time and never shrinks, and how much a call needs at once depends on when its messages come. So the test waits for two batches of
// calls in a row that need no more memory. A program that loses 32 KiB a call needs more in one of any two batches.
func TestTheReleaseFreesMemory(t *testing.T) {
	const calls, batches, most = 20, 12, 8 << 20
	g, tab, server := visit(t)
	does(g, tab, `globalThis.calls = async (n) => {
		for (let i = 0; i < n; i++) {
			const call = Antiphon.connect({ url: "`+server.URL+`", microphone: false });
			await call.ready;
			await call.close();
		}
	}`)
	memory, quiet := 0, 0
	for batch := 0; batch < batches && quiet < 2; batch++ {
		does(g, tab, fmt.Sprintf("await calls(%d)", calls))
		now, err := rig.Await[used](tab, `(async () => Antiphon.usage())()`)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(now.Functions).To(gomega.BeZero())
		g.Expect(now.Memory).To(gomega.BeNumerically("<=", most), "bytes")
		quiet++
		if now.Memory > memory {
			quiet = 0
		}
		memory = now.Memory
		t.Logf("after %d calls: %d bytes", calls*(batch+1), memory)
	}
	g.Expect(quiet).To(gomega.Equal(2), "batches in a row that needed no more memory")
}
