package probe

// Probes of a running server: the components of a pipeline show what the last probe found.

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Keeper has the results of the last probe of a pipeline.
type Keeper struct {
	pipeline *pipeline.Pipeline
	last     atomic.Pointer[[]Result]
}

// Keep has the components of p show what the probes find: see Show. It changes p, which nobody may use yet.
func Keep(p *pipeline.Pipeline) *Keeper {
	k := &Keeper{pipeline: p}
	components := p.Components
	p.Components = func() []pipeline.Component {
		if last := k.last.Load(); last != nil {
			return Show(components(), *last)
		}
		return components()
	}
	return k
}

// longestPause is the longest pause between two probes. A stage that works again is shown as failed for as long at most.
const longestPause = 2 * time.Minute

// Run probes until all stages work or ctx is done. It tries a stage that does not work again after a pause that doubles each time. It gives
// report each result that differs from the one before: another error, or none any more.
func (k *Keeper) Run(ctx context.Context, pause time.Duration, report func(Result)) {
	var before []Result
	for {
		results := again(ctx, k.pipeline, before)
		if ctx.Err() != nil {
			return
		}
		k.last.Store(&results)
		for i, r := range results {
			if before == nil || text(before[i].Err) != text(r.Err) {
				report(r)
			}
		}
		if before = results; !slices.ContainsFunc(results, func(r Result) bool { return r.Err != nil }) {
			return
		}
		timer := time.NewTimer(pause)
		pause = min(2*pause, longestPause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// text returns the text of an error; "" for nil.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
