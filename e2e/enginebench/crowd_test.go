package enginebench

// This file measures how many users can speak at a time.

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	each = 3                      // prompts that each user of a crowd speaks, one after the other
	goal = 400 * time.Millisecond // longest wait for a final text, p95
	step = 310 * time.Millisecond // between the beginnings of two users, so that not all of them speak in step
)

// BenchmarkCrowd has 1, 2, 4 and more users speak at a time. It ends after a number whose p95 is above the goal.
func BenchmarkCrowd(b *testing.B) {
	prompts := prompts(b)
	r, _ := recogniser(b, *most)
	late := false
	for users := 1; users <= *most && !late; users *= 2 {
		b.Run(fmt.Sprintf("%d users", users), func(b *testing.B) {
			if _, err := crowd(b.Context(), r, prompts, users, 1); err != nil { // the processes that they need are loaded
				b.Fatal(err)
			}
			finals, err := crowd(b.Context(), r, prompts, users, each)
			if err != nil {
				b.Fatal(err)
			}
			figures.Times(b, "final-text", finals, 50, 95)
			figures.Count(b, "MB", int(memory()>>20))
			late = figures.Percentile(finals, 95) > goal
		})
	}
}

// crowd has so many users speak n prompts each, at the same time. It returns the waits for the final texts.
func crowd(ctx context.Context, r pipeline.Transcriber, prompts []human.Sentence, users, n int) ([]time.Duration, error) {
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
				heard, err := recognise(ctx, r, turn(p.PCM))
				if err != nil {
					return fmt.Errorf("%s, user %d of %d: %w", p.Name, user+1, users, err)
				}
				finals[user*n+i] = heard.final
			}
			return nil
		})
	}
	return finals, all.Wait()
}
