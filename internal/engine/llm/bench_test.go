package llm

// What the adapter adds to its server: the time to the first token, and from a barge-in to the closed request.

import (
	"context"
	"testing"

	"github.com/antiphon-rt/antiphon/internal/engine/latency"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// adapters returns each form with a short answer.
func adapters(b *testing.B) map[string]latency.Adapter {
	all := map[string]latency.Adapter{
		"chat":      {Path: "/chat/completions", Type: mimeSSE, First: "data: " + delta(`"content":"Hello"`) + "\n\n", Rest: events(delta(`"content":" you"`), stop)},
		"responses": {Path: "/responses", Type: mimeSSE, First: "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hello\"}\n\n", Rest: "data: {\"type\":\"response.completed\"}\n\n"},
	}
	models := map[string]*Model{}
	for name, a := range all {
		a.Call = func(ctx context.Context, url string, first func()) error {
			m := models[name+url]
			if m == nil {
				make := map[string]func(Config) (*Model, error){"chat": NewChat, "responses": NewResponses}[name]
				var err error
				if m, err = make(Config{Model: "m", Server: remote.Config{URLs: []string{url}}}); err != nil {
					return err
				}
				b.Cleanup(func() { _ = m.Close() })
				m.state.warm = true
				models[name+url] = m
			}
			_, err := m.Generate(ctx, pipeline.Request{}, func(pipeline.ModelEvent) error { first(); return nil })
			return err
		}
		all[name] = a
	}
	return all
}

func BenchmarkFirstToken(b *testing.B) {
	for name, a := range adapters(b) {
		b.Run(name, func(b *testing.B) { latency.Run(b, a) })
	}
}

func BenchmarkCancel(b *testing.B) {
	for name, a := range adapters(b) {
		b.Run(name, func(b *testing.B) { latency.Cancel(b, a) })
	}
}
