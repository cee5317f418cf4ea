package clients

// A client's program in a page of Chromium.

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// bundle makes one script of page.mjs and everything that it imports, as a page's author does.
var bundle = sync.OnceValues(func() ([]byte, error) {
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{installed + "/programs/page.mjs"}, Bundle: true, Platform: api.PlatformBrowser, Format: api.FormatIIFE,
		Target: api.ES2022, Outfile: "page.js", Write: false, LogLevel: api.LogLevelSilent,
	})
	if len(built.Errors) > 0 {
		return nil, errors.New("page.mjs does not bundle: " + built.Errors[0].Text)
	}
	return built.OutputFiles[0].Contents, nil
})

// site serves the page of the clients. Its origin is not the server's.
func site(t *testing.T) string {
	t.Helper()
	script, err := bundle()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!doctype html><title>a client</title><link rel="icon" href="data:,"><script src="page.js"></script>`)) // writing fails when the browser is gone
	})
	mux.HandleFunc("GET /page.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write(script) // writing fails when the browser is gone
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// tab is a program in a page.
type tab struct {
	*rig.Tab
	g *gomega.WithT
	// quiet is how much sound had come when the present response was requested.
	quiet float64
}

// runPage opens the page and makes a client of page.mjs in it. It closes with the test, and its console must have no complaints.
func runPage(t *testing.T, b *rig.Browser, url, name string, options args) *tab {
	t.Helper()
	g := gomega.NewWithT(t)
	opened, err := b.Open(url)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := &tab{Tab: opened, g: g}
	t.Cleanup(func() {
		complaints, err := p.Complaints()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(complaints).To(gomega.BeEmpty(), "the page complains")
		p.Close()
	})
	o, err := json.Marshal(options)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = rig.Evaluate[any](p.Tab, fmt.Sprintf("begin(%q, %s)", name, o))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return p
}

func (p *tab) ask(method string, a any) (json.RawMessage, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	raw, err := rig.Await[json.RawMessage](p.Tab, fmt.Sprintf("ask(%q, %s)", method, text))
	if err != nil {
		return nil, err
	}
	return answer(method, raw)
}

// speak plays tones into the page's microphone.
func (p *tab) speak(text string) {
	sound, err := rig.Resampled(scripted.Tones(text), pipeline.OutputRate)
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = p.Say(sound.WAV())
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
}

// silence waits until the agent is silent in the page, and lets heard count from 0.
func (p *tab) silence() {
	p.g.Eventually(p.Heard).WithTimeout(patience).WithPolling(glance).Should(gomega.HaveField("QuietMS", gomega.BeNumerically(">", 400)))
	heard, err := p.Heard()
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	p.quiet = heard.LoudMS
}

// heard returns how much sound the page has received since silence.
func (p *tab) heard() (time.Duration, error) {
	heard, err := p.Heard()
	return time.Duration((heard.LoudMS - p.quiet) * float64(time.Millisecond)), err
}

// TestInChromium runs the clients that are pages, in one browser.
func TestInChromium(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	b, err := rig.Launch(t.Context(), rig.Options{Trusting: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(b.Close)
	page := site(t)
	for name, run := range map[string]func(t *testing.T, b *rig.Browser, page string){
		"agents-webrtc": agentsOverWebRTC, "agents-websocket": agentsOverBrowsersWebSocket,
		"openai-websocket": openaiOverWebSocket, "openai-webrtc": openaiOverWebRTC,
		"ai-sdk": aiSDK,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, b, page)
		})
	}
}

// aiSDK takes the steps of the programs in Python. The client always opens wss://.
func aiSDK(t *testing.T, b *rig.Browser, page string) {
	h := open(t, "ai-sdk", "--tls-self-signed", "--origin", page)
	s := &pythonSuite{suite: newSuite(t, "ai, @ai-sdk/openai", runPage(t, b, page, "aiSDK", args{"url": h.url, "key": key}))}
	s.run()
	h.stop()
	h.holds(1)
}
