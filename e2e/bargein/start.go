package main

// The row "start": how long a page takes from its load to a call that listens.

import (
	_ "embed"
	"fmt"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

//go:embed start.js
var startJS string

// stockJS is the part of agents-realtime that a page needs to talk.
const stockJS = `import { OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession } from "@openai/agents-realtime";
window.kept = { OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession };`

// starts measures the time from the script's tag to a connected call, in a browser with an empty cache.
func starts(h *house, o options, r *results) error {
	server, err := h.tones()
	if err != nil {
		return err
	}
	t := table{
		title: "Script tag to connected, cold, loopback", head: []string{"client", "n", "p50 / p95 ms"},
		notes: []string{"Each measurement uses a new browser with an empty cache and no relay. The browser already has the microphone."},
	}
	took := map[string][]float64{}
	for range max(3, o.n/2) {
		for _, kind := range o.among(ours, stock) {
			ms, err := h.connect(kind, server)
			if err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			took[kind] = append(took[kind], ms)
		}
	}
	for _, kind := range o.among(ours, stock) {
		t.rows = append(t.rows, []string{names[kind], fmt.Sprint(len(took[kind])), halfAndMost(took[kind])})
	}
	r.add(t)
	half := quantile(took[ours], 0.5)
	r.judge(target{what: "script tag to connected, cold, p50", want: "<= 300 ms", got: ms(half), met: half <= 300})
	return nil
}

func (h *house) connect(kind, server string) (ms float64, err error) {
	err = h.inBrowser(func(b *rig.Browser) error {
		tab, err := b.Open(h.site.url + "/start/")
		if err != nil {
			return err
		}
		defer tab.Close()
		ms, err = rig.Await[float64](tab, fmt.Sprintf(`start(%q, {url: %q})`, kind, server))
		return err
	})
	return ms, err
}
