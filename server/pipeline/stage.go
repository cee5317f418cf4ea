package pipeline

// This file puts a pipeline together from three independent stages.

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
	"github.com/antiphon-rt/antiphon/internal/engine/sounds"
)

// Stage is one stage of a pipeline, together with what the owner of the pipeline needs. S is Transcriber, Model or Synthesizer.
// The zero value of each function has a meaning, so an adapter sets only the functions that it needs.
type Stage[S any] struct {
	Impl S
	// Component returns the present state. It does not block. It is never nil.
	Component func() Component
	// Warm loads what takes time to load, as Pipeline.Warm; nil: nothing takes time.
	Warm func(ctx context.Context) error
	// Close ends all goroutines and processes of the stage and waits for them. It may be called again. nil: there are none.
	Close func() error
}

// Compose returns the pipeline of three stages. The pipeline owns the stages: its Close closes them. If name is empty, the pipeline has the names of
// the three components. Package endofturn estimates ends of turns, unless the Transcriber is an EndReporter that reports them. sounds.Reference finds the
// sounds of utterances.
func Compose(name string, t Stage[Transcriber], m Stage[Model], s Stage[Synthesizer]) *Pipeline {
	components := func() []Component { return []Component{t.Component(), m.Component(), s.Component()} }
	if name == "" {
		var names []string
		for _, c := range components() {
			names = append(names, c.Name)
		}
		name = strings.Join(names, "+")
	}
	estimate := endofturn.New
	if r, is := t.Impl.(EndReporter); is && r.ReportsEnds() {
		estimate = nil
	}
	return &Pipeline{
		Name: name, EndOfTurn: estimate, Sounds: sounds.Reference{}, Transcriber: t.Impl, Model: m.Impl, Synthesizer: s.Impl, Components: components,
		Warm: func(ctx context.Context) error {
			var all sync.WaitGroup
			var errs [3]error
			for i, warm := range []func(context.Context) error{t.Warm, m.Warm, s.Warm} {
				if warm != nil {
					all.Go(func() { errs[i] = warm(ctx) })
				}
			}
			all.Wait()
			return errors.Join(errs[:]...)
		},
		Close: func() error {
			var errs [3]error
			for i, end := range []func() error{s.Close, m.Close, t.Close} {
				if end != nil {
					errs[i] = end()
				}
			}
			return errors.Join(errs[:]...)
		},
	}
}
