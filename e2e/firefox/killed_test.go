package firefox

// The server is killed during the call of a page, and starts again with the same data.

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

//go:embed killed.html
var killedPage string

// report is what the page tells at one moment: it hears the agent ("speaking"), has lost the call ("lost"), hears the agent again ("back"), or
// is done.
type report struct {
	what string
	at   time.Time
	outcome
}

// TestTheServerIsKilled: the page needs no user. The call goes on with its conversation, and the agent is heard again.
func TestTheServerIsKilled(t *testing.T) {
	for _, browser := range []struct {
		name   string
		browse func(t *testing.T, g *gomega.WithT, address string)
	}{{"Firefox", browse}, {"Chromium", browseChromium}} {
		t.Run(browser.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			g.SetDefaultEventuallyTimeout(patience)
			kills := kills(g)
			var url string
			reports := make(chan report, 4)
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serveKilled(w, r, url, reports) }))
			t.Cleanup(site.Close)
			flags := []string{"--pipeline", "scripted", "--data", filepath.Join(t.TempDir(), "data"), "--origin", site.URL, "--listen"}
			server := startServer(t, g, append(flags, "127.0.0.1:0"))
			url = server.URL
			browser.browse(t, g, fmt.Sprintf("%s/?kills=%d", site.URL, kills))
			var noticed, back []time.Duration
			for range kills {
				next(g, reports, "speaking")
				g.Eventually(server.Journalled).Should(gomega.BeTrue())
				server.Kill()
				killed := time.Now()
				server = startServer(t, g, append(flags, strings.TrimPrefix(url, "http://")))
				noticed = append(noticed, next(g, reports, "lost").at.Sub(killed))
				back = append(back, next(g, reports, "back").at.Sub(killed))
			}
			end := next(g, reports, "done")
			g.Expect(end.Failed).To(gomega.BeEmpty())
			g.Expect(end.Functions).To(gomega.BeZero())
			g.Expect(end.States).NotTo(gomega.ContainElement("failed"))
			t.Logf("noticed after %v; the agent is heard again after %v", median(noticed), median(back))
			t.Logf("all: %v", back)
		})
	}
}

// kills returns how often the server is killed: once, or as often as make chaos asks for.
func kills(g *gomega.WithT) int {
	text := os.Getenv("ANTIPHON_CHAOS")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	g.Expect(err).NotTo(gomega.HaveOccurred(), "ANTIPHON_CHAOS")
	return n
}

// median returns the middle of the times and their 95th percentile, as text. It sorts them.
func median(times []time.Duration) string {
	slices.Sort(times)
	return fmt.Sprintf("%v (p50), %v (p95)", times[len(times)/2].Round(time.Millisecond), times[len(times)*95/100].Round(time.Millisecond))
}

// startServer starts the server with these flags.
func startServer(t *testing.T, g *gomega.WithT, flags []string) *rig.Program {
	t.Helper()
	server, err := rig.Start("../..", flags...)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(server.Kill)
	return server
}

// next waits for the page's next report, which must be about this.
func next(g *gomega.WithT, reports <-chan report, what string) report {
	var r report
	g.Eventually(reports).Should(gomega.Receive(&r))
	g.Expect(r.what).To(gomega.Equal(what), "%s", r.Failed)
	return r
}

// serveKilled serves the page, and takes its reports.
func serveKilled(w http.ResponseWriter, r *http.Request, server string, reports chan<- report) {
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(strings.ReplaceAll(killedPage, "SERVER", server))) // writing fails when the browser is gone
		return
	}
	told := report{what: strings.TrimPrefix(r.URL.Path, "/"), at: time.Now()}
	if told.what == "done" {
		if err := json.NewDecoder(r.Body).Decode(&told.outcome); err != nil {
			told.Failed = err.Error()
		}
	}
	select {
	case reports <- told:
	default: // nobody reads any more
	}
}
