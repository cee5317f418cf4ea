package bargein

// What all benchmarks share: the servers, the site, the browsers and the spoken phrases.

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

var (
	clients = flag.String("clients", "", "clients to measure, with commas between: ours, unpredicted, stock, naive; all of them when empty")
	count   = flag.Int("interruptions", 6, "interruptions behind each link; three times as many behind that of the targets")
	echoed  = flag.Duration("echo", 5*time.Minute, "playback with an echo")
)

// among returns those of the given clients that the flags select.
func among(all ...string) []string {
	return slices.DeleteFunc(all, func(c string) bool { return *clients != "" && !slices.Contains(strings.Split(*clients, ","), c) })
}

// house has what all benchmarks share: servers, the page, and the spoken phrases. It ends with the test.
type house struct {
	t    testing.TB
	ctx  context.Context
	site string // the URL of the page

	scripted, embedded *rig.Program // started when they are needed
}

// script answers an interruption with one short sound, so that the next round begins soon.
const script = `
model:
  replies:
    - when: {contains: speech of}
      say: "yes."
`

// open returns the house of a benchmark, with a page that has all clients.
func open(b *testing.B) *house {
	others, err := pack(othersJS, installed)
	if err != nil {
		b.Fatal(err)
	}
	agents, err := pack(stockJS, installed)
	if err != nil {
		b.Fatal(err)
	}
	return openWith(b, map[string][]byte{
		"/page.js": append([]byte(pageJS), others...), "/start/page.js": []byte(startJS), "/start/agents.js": agents,
	})
}

func openWith(t testing.TB, scripts map[string][]byte) *house {
	return &house{t: t, ctx: t.Context(), site: newSite(t, scripts)}
}

// tones returns the URL of the server whose agent speaks in tones, without a pause.
func (h *house) tones() string {
	if h.scripted == nil {
		path := filepath.Join(h.t.TempDir(), "script.yaml")
		if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
			h.t.Fatal(err)
		}
		h.scripted = h.start(path)
	}
	return h.scripted.URL
}

// speech returns the URL of the server that recognises and speaks words.
func (h *house) speech() string {
	if h.embedded == nil {
		h.embedded = h.start("embedded")
	}
	return h.embedded.URL
}

func (h *house) start(pipeline string) *rig.Program {
	p, err := rig.Start("../..", "--pipeline", pipeline, "--listen", "127.0.0.1:0", "--origin", "*", "--log-level", "error")
	if err != nil {
		h.t.Fatal(fmt.Errorf("the server with the pipeline %s: %w", pipeline, err))
	}
	h.t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			h.t.Error(err)
		}
	})
	return p
}
