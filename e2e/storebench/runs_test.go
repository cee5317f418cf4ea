package storebench

// This file measures runs: one change of a run, a whole run, and how many are done in a second.

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/antiphon-rt/antiphon/internal/runs"
	"github.com/antiphon-rt/antiphon/internal/store"
)

const (
	runsStop    = 10 * time.Second
	principals  = 8   // begin runs at the same time
	maxMessages = 400 // messages of progress in one run; a run has 500 at most
)

// measureRuns measures runs in a store.
func measureRuns(b *testing.B, s *store.Store) {
	work := &changes{}
	runner, err := runs.New(b.Context(), runs.Config{Store: s, MaxBytes: 64 << 20, Workers: []runs.Worker{
		{Tool: "short", Work: func(context.Context, *runs.Turn) (json.RawMessage, error) { return json.RawMessage(`"done"`), nil }},
		{Tool: "long", Work: work.run},
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stop, cancel := context.WithTimeout(context.Background(), runsStop)
		defer cancel()
		if err := runner.Close(stop); err != nil {
			b.Error(err)
		}
	})
	b.Run("run/change", func(b *testing.B) {
		work.times = nil
		for len(work.times) < b.N {
			work.n = min(b.N-len(work.times), maxMessages)
			if err := oneRun(b.Context(), runner, "p", "long"); err != nil {
				b.Fatal(err)
			}
		}
		report(b, work.times)
	})
	b.Run("run/whole", func(b *testing.B) {
		each(b, func() error { return oneRun(b.Context(), runner, "p", "short") })
	})
	b.Run(fmt.Sprintf("run/whole-%d-at-a-time", principals), func(b *testing.B) {
		all, ctx := errgroup.WithContext(b.Context())
		for p := range principals {
			all.Go(func() error {
				for range max(1, b.N/principals) {
					if err := oneRun(ctx, runner, fmt.Sprint("p", p), "short"); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := all.Wait(); err != nil {
			b.Fatal(err)
		}
	})
}

// changes is a worker that measures n changes of its run: messages of progress.
type changes struct {
	n     int
	times []time.Duration
}

func (c *changes) run(ctx context.Context, t *runs.Turn) (json.RawMessage, error) {
	for range c.n {
		begin := time.Now()
		if err := t.Progress(ctx, "goes on"); err != nil {
			return nil, err
		}
		c.times = append(c.times, time.Since(begin))
	}
	return json.RawMessage("null"), nil
}

// oneRun begins a run and waits for the message of its end.
func oneRun(ctx context.Context, runner *runs.Runner, principal, tool string) error {
	r, err := runner.Start(ctx, runs.Request{Principal: principal, Tool: tool})
	if err != nil {
		return err
	}
	return runner.Follow(ctx, principal, r.ID, 0, func(runs.Message) error { return nil }, nil)
}
