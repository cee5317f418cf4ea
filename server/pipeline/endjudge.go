package pipeline

// This file has the interface of a model that hears ends of turns, which is an optional part of a pipeline.

import (
	"context"
	"errors"

	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
)

// EndJudge hears whether a user has finished a turn. Its answers are a part of the estimates of package endofturn. It is safe for concurrent use.
type EndJudge interface {
	// Component returns the present state. It does not block.
	Component() Component
	// Judge is an endofturn.Judge. The channel gets the answer, or is closed without one, within 3 s.
	Judge(pcm []float32) <-chan float64
	// Warm loads the model, as Pipeline.Warm. A model that is missing is no error.
	Warm(ctx context.Context) error
	// Close ends all goroutines and processes, and waits for them. Judge gives no answers then. Close may be called again.
	Close() error
}

// JudgeEnds lets a judge hear the ends of turns, for the estimators of package endofturn. The pipeline owns it: its Close closes the judge. Where the Transcriber reports ends, EndOfTurn is nil
// and the judge is never asked. Only one goroutine may call it, before the pipeline is used.
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
