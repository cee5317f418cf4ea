package tts

// What the adapter adds to its server: the time to the first sound, and from a barge-in to the closed request.

import (
	"context"
	"testing"

	"github.com/antiphon-rt/antiphon/internal/engine/latency"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// adapters returns each form with a second of sound. The first piece has 50 ms.
func adapters(b *testing.B) map[string]latency.Adapter {
	_, raw := sine(24000, 0.95)
	_, slow := sine(22050, 0.95)
	_, piece := sine(24000, 0.05)
	_, slowPiece := sine(22050, 0.05)
	config := map[string]Config{"sse": {Format: FormatSSE}, "wav": {Format: FormatWAV}}
	all := map[string]latency.Adapter{
		"pcm":   {Path: "/audio/speech", Type: "audio/pcm", First: piece, Rest: raw},
		"wav":   {Path: "/audio/speech", Type: "audio/wav", First: file(24000, piece, -1), Rest: raw},
		"sse":   {Path: "/audio/speech", Type: mimeSSE, First: soundEvents(piece, len(piece))[:len(soundEvents(piece, len(piece)))-len(soundEvents("", 1))], Rest: soundEvents(raw, 2400)},
		"piper": {Path: "/synthesize", Type: "audio/wav", First: file(22050, slowPiece, -1), Rest: slow},
	}
	made := map[string]*Synthesizer{}
	for name, a := range all {
		a.Call = func(ctx context.Context, url string, first func()) error {
			s := made[name+url]
			if s == nil {
				make := NewOpenAI
				if name == "piper" {
					make = NewPiper
				}
				c := config[name]
				c.Server = remote.Config{URLs: []string{url}}
				var err error
				if s, err = make(c); err != nil {
					return err
				}
				b.Cleanup(func() { _ = s.Close() })
				made[name+url] = s
			}
			return s.Synthesize(ctx, pipeline.Utterance{Text: "Hello."}, func([]int16) error { first(); return nil })
		}
		all[name] = a
	}
	return all
}

func BenchmarkFirstSound(b *testing.B) {
	for name, a := range adapters(b) {
		b.Run(name, func(b *testing.B) { latency.Run(b, a) })
	}
}

func BenchmarkCancel(b *testing.B) {
	for name, a := range adapters(b) {
		b.Run(name, func(b *testing.B) { latency.Cancel(b, a) })
	}
}
