package scripted

// The processor time of the scripted stages.

import (
	"context"
	"testing"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// BenchmarkSecond is what the scripted stages take for a second of audio: the load that they put under a measurement of the
// server. The reference only measures the audio's level.
func BenchmarkSecond(b *testing.B) {
	pcm, err := pipetest.Path{}.Send(Tones("one second of tones, more or less"), pipeline.OutputRate)
	if err != nil {
		b.Fatal(err)
	}
	pcm = pcm[:pipeline.InputRate]
	b.Run("transcribe", func(b *testing.B) {
		e := &engine{rules: &TranscriberRules{}, analyser: newAnalyser()}
		for b.Loop() {
			s, err := e.Open(context.Background(), backend.Config{Live: true})
			if err != nil {
				b.Fatal(err)
			}
			for at := 0; at < len(pcm); at += 320 {
				if _, err := s.Feed(context.Background(), pcm[at:at+320]); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("synthesize", func(b *testing.B) {
		buf, w := make([]int16, longChunk), waves()
		for b.Loop() {
			for s := newSpeech(w, "sixteen letters!!", 1440); s.left() > 0; {
				s.read(buf)
			}
		}
	})
	b.Run("reference-level", func(b *testing.B) {
		for b.Loop() {
			var s stream
			s.measure(pcm)
		}
	})
}
