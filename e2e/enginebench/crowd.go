package main

// This file measures how many users can speak at a time.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	each = 3                      // prompts that each user of a crowd speaks, one after the other
	goal = 400 * time.Millisecond // longest wait for a final text, p95
	step = 310 * time.Millisecond // between the beginnings of two users, so that not all of them speak in step
)

const crowdHead = `| recogniser | users who speak at a time | final text, p50 / p95 | memory |
|---|---|---|---|`

// measureCrowd prints a row for 1, 2, 4 and more users up to o.users. It ends after a row whose p95 is above the goal.
func measureCrowd(ctx context.Context, e engine, o options, prompts []prompt) (err error) {
	s, err := e.recogniser(o.models, o.users)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err := ready(ctx, s); err != nil {
		return err
	}
	for users := 1; users <= o.users; users *= 2 {
		if _, err := crowd(ctx, s.Impl, prompts, users, 1); err != nil { // the processes that they need are loaded
			return err
		}
		finals, err := crowd(ctx, s.Impl, prompts, users, each)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %d | %s | %d MB |\n", title(e, s.Component()), users, middle(finals), memory()>>20)
		if percentile(finals, 95) > goal {
			return nil
		}
	}
	return nil
}

// crowd has so many users speak n prompts each, at the same time. It returns the waits for the final texts.
func crowd(ctx context.Context, r pipeline.Transcriber, prompts []prompt, users, n int) ([]time.Duration, error) {
	finals := make([]time.Duration, users*n)
	all, ctx := errgroup.WithContext(ctx)
	for user := range users {
		all.Go(func() error {
			begin := time.NewTimer(time.Duration(user) * step)
			defer begin.Stop()
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-begin.C:
			}
			for i := range n {
				p := prompts[(user*n+i)%len(prompts)]
				heard, err := recognise(ctx, r, p.pcm)
				if err != nil {
					return fmt.Errorf("%s, user %d of %d: %w", p.name, user+1, users, err)
				}
				finals[user*n+i] = heard.final
			}
			return nil
		})
	}
	return finals, all.Wait()
}
