package enginebench

// This file measures synthesizers.

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
)

// clauses are what the synthesizers speak.
var clauses = []string{"Hello there!", "The weather in Oslo is fine.", "I can count, tell you the time, and repeat what you say."}

// utterance bounds the work for one clause.
const utterance = time.Minute

func BenchmarkSynthesizer(b *testing.B) {
	b.Run("sherpa", func(b *testing.B) {
		s, err := sherpa.Synthesizer(sherpa.Config{Models: models, Processes: 1})
		if err != nil {
			b.Fatal(err)
		}
		measureVoice(b, s)
	})
	b.Run("flite", func(b *testing.B) { measureVoice(b, embedded.Synthesizer(embedded.Options{})) })
}

// measureVoice has a synthesizer speak the clauses.
func measureVoice(b *testing.B, s pipeline.Stage[pipeline.Synthesizer]) {
	start := load(b, s)
	used := processorTime()
	var length, work time.Duration
	firsts := make([][]time.Duration, len(clauses))
	for range *rounds {
		for i, text := range clauses {
			first, whole, spoken, err := speak(b.Context(), s.Impl, text)
			if err != nil {
				b.Fatal(err)
			}
			firsts[i], work, length = append(firsts[i], first), work+whole, length+spoken
		}
	}
	used = processorTime() - used
	for i, text := range clauses {
		figures.Times(b, fmt.Sprintf("first-audio-of-%d-words", len(strings.Fields(text))), firsts[i], 50, 95)
	}
	b.ReportMetric(work.Seconds()/length.Seconds(), "real-time")
	b.ReportMetric(1000*used.Seconds()/length.Seconds(), "processor-ms/s")
	figures.Count(b, "MB", int(memory()>>20)) // 0: it runs only while it speaks
	b.ReportMetric(start.Seconds(), "ready-after-s")
}

// speak returns when the first audio of a text came, when the last, and how long the speech is.
func speak(ctx context.Context, s pipeline.Synthesizer, text string) (first, whole, spoken time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, utterance)
	defer cancel()
	began, n := time.Now(), 0
	err = s.Synthesize(ctx, pipeline.Utterance{Text: text}, func(pcm []int16) error {
		if n == 0 {
			first = time.Since(began)
		}
		n += len(pcm)
		return nil
	})
	if err == nil && n == 0 {
		err = fmt.Errorf("no speech for %q", text)
	}
	return first, time.Since(began), time.Duration(n) * time.Second / pipeline.OutputRate, err
}
