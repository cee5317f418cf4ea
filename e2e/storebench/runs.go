package main

// This file measures runs: one change of a run, a whole run, and how many are done in a second.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/runs"
	"github.com/antiphon-rt/antiphon/internal/store"
)

const (
	runsStop    = 10 * time.Second
	principals  = 8   // begin runs at the same time
	maxMessages = 400 // messages of progress in one run; a run has 500 at most
)

// measureRuns prints the rows of runs in a store.
func measureRuns(ctx context.Context, s *store.Store, name string, n int, t *table) (err error) {
	work := &changes{}
	runner, err := runs.New(ctx, runs.Config{Store: s, MaxBytes: 64 << 20, Workers: []runs.Worker{
		{Tool: "short", Work: func(context.Context, *runs.Turn) (json.RawMessage, error) { return json.RawMessage(`"done"`), nil }},
		{Tool: "long", Work: work.run},
	}})
	if err != nil {
		return err
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), runsStop)
		defer cancel()
		err = errors.Join(err, runner.Close(stop))
	}()
	if err := t.row(name+": one change of a run", func() ([]time.Duration, error) {
		for len(work.times) < n {
			work.n = min(n-len(work.times), maxMessages)
			if _, err := oneRun(ctx, runner, "p", "long"); err != nil {
				return nil, err
			}
		}
		return work.times, nil
	}); err != nil {
		return err
	}
	if err := t.row(name+": a run, from its begin to the message of its end", func() (times []time.Duration, err error) {
		for range n {
			took, err := oneRun(ctx, runner, "p", "short")
			if err != nil {
				return nil, err
			}
			times = append(times, took)
		}
		return times, nil
	}); err != nil {
		return err
	}
	return t.row(fmt.Sprintf("%s: the same, %d at a time", name, principals), func() (times []time.Duration, err error) {
		var mu sync.Mutex
		var all sync.WaitGroup
		for p := range principals {
			all.Go(func() {
				for range max(1, n/principals) {
					took, one := oneRun(ctx, runner, fmt.Sprint("p", p), "short")
					mu.Lock()
					times, err = append(times, took), errors.Join(err, one)
					mu.Unlock()
					if one != nil {
						return
					}
				}
			})
		}
		all.Wait()
		return times, err
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
func oneRun(ctx context.Context, runner *runs.Runner, principal, tool string) (took time.Duration, err error) {
	begin := time.Now()
	r, err := runner.Start(ctx, runs.Request{Principal: principal, Tool: tool})
	if err != nil {
		return 0, err
	}
	err = runner.Follow(ctx, principal, r.ID, 0, func(runs.Message) error { return nil }, nil)
	return time.Since(begin), err
}
