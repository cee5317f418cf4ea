package release

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The program that TinyGo made holds calls: in writing, by voice, with an interruption, one after the other, and lets them go.
func TestTheReleaseHoldsCalls(t *testing.T) {
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(40 * time.Second)
	files := http.FileServer(http.Dir("../../sdk/npm/release"))
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<!doctype html><link rel="icon" href="data:,"><script src="antiphon.js"></script>`)) // the browser may be gone
			return
		}
		files.ServeHTTP(w, r)
	}))
	pipeline := scripted.New(scripted.Options{})
	server, err := rig.Serve(pipeline, slog.New(slog.DiscardHandler), site.URL)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() {
		site.Close()
		g.Expect(server.Close()).To(gomega.Succeed())
		g.Expect(pipeline.Close()).To(gomega.Succeed())
	})
	browser, err := rig.Launch(context.WithoutCancel(t.Context()), rig.Options{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(browser.Close)
	tab, err := browser.Open(site.URL + "/")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(tab.Close)
	is := func(expression string) func() (bool, error) {
		return func() (bool, error) { return rig.Await[bool](tab, "(async () => Boolean("+expression+"))()") }
	}
	does := func(script string) {
		t.Helper()
		_, err := rig.Await[bool](tab, "(async () => {"+script+"; return true })()")
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	speech, err := rig.Speak(t.Context(), "stop it now please, that is enough")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for range 3 {
		does(`globalThis.call = Antiphon.connect({ url: "` + server.URL + `" }); await call.ready; call.send("say 60 words")`)
		g.Eventually(is(`call.state === "agent-speaking"`)).Should(gomega.BeTrue())
		g.Eventually(tab.Heard).Should(gomega.HaveField("LoudMS", gomega.BeNumerically(">", 200)))
		_, err = tab.Say(speech.WAV())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Eventually(is(`call.transcript.some((e) => e.interrupted) && call.metrics.interruptions.candidates > 0`)).Should(gomega.BeTrue())
		g.Eventually(is(`call.transcript.at(-1).role === "agent" && call.state === "listening"`)).Should(gomega.BeTrue())
		g.Expect(is(`call.machines === "same"`)()).To(gomega.BeTrue(), "the machines are the server's")
		does(`await call.close()`)
	}
	g.Expect(is(`Antiphon.usage().functions === 0`)()).To(gomega.BeTrue())
	g.Expect(tab.Complaints()).To(gomega.BeEmpty())
}
