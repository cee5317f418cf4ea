package bargein

// The benchmark of the start: how long a page takes from its load to a call that listens.

import (
	_ "embed"
	"fmt"
	"testing"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

//go:embed start.js
var startJS string

// stockJS is the part of agents-realtime that a page needs to talk.
const stockJS = `import { OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession } from "@openai/agents-realtime";
window.kept = { OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession };`

// BenchmarkStart measures the time from the script's tag to a connected call, in a browser with an empty cache, and without a relay. The browser
// already has the microphone.
func BenchmarkStart(b *testing.B) {
	h := open(b)
	server := h.tones()
	for _, kind := range among(ours, stock) {
		b.Run(kind, func(b *testing.B) {
			var took []float64
			for range max(3, *count/2) {
				ms, err := h.connect(kind, server)
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, ms)
			}
			quantiles(b, "start", took)
		})
	}
}

func (h *house) connect(kind, server string) (ms float64, err error) {
	err = h.inBrowser(func(b *rig.Browser) error {
		tab, err := b.Open(h.site + "/start/")
		if err != nil {
			return err
		}
		defer tab.Close()
		ms, err = rig.Await[float64](tab, fmt.Sprintf(`start(%q, {url: %q})`, kind, server))
		return err
	})
	return ms, err
}
