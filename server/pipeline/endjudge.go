package pipeline

// This file has the interface of a model that hears ends of turns, which is an optional part of a pipeline.

import (
	"context"
	"errors"

	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
)

// EndJudge says by the sound of a turn how probable it is that the user has finished. Its answers are a part of the estimates of package endofturn. It is safe for concurrent use.
type EndJudge interface {
	// Component returns the present state. It does not block.
	Component() Component
	// Judge is an endofturn.Judge. The channel gets the answer, or is closed without one, within 3 s.
	Judge(pcm []float32) <-chan float64
	// Warm loads the model, as Pipeline.Warm. A model that is missing is no error.
	Warm(ctx context.Context) error
	// Close ends all goroutines and processes, and waits for them. Afterwards Judge gives no answers. Close may be called again.
	Close() error
}

// JudgeEnds gives the estimators of package endofturn a judge. The pipeline owns it: Close closes the judge. If the Transcriber reports ends, EndOfTurn is nil,
// and nothing asks the judge. Only one goroutine may call JudgeEnds, before the pipeline is used.
func (p *Pipeline) JudgeEnds(j EndJudge) {
	warm, end := p.Warm, p.Close
	p.EndJudge = j
	p.Close = func() error { return errors.Join(end(), j.Close()) }
	estimate := p.EndOfTurn
	if estimate == nil {
		return
	}
	p.EndOfTurn = func(language string) endofturn.Estimator {
		return endofturn.Judged(estimate(language), j.Judge)
	}
	p.Warm = func(ctx context.Context) error { return errors.Join(warm(ctx), j.Warm(ctx)) }
}
