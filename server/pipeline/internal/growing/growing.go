package stt

// One utterance: collects the audio, asks for partial results at a bounded rate, and for the final one.

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/backend"
)

// maxPartial is the longest utterance for which partial results are asked: each request sends all of it again.
const maxPartial = time.Minute

// utterance is a backend.Stream and backend.Announcer.
type utterance struct {
	engine *engine
	config backend.Config
	ctx    context.Context //nolint:containedctx // it is the context of the utterance, not of one call
	cancel context.CancelFunc
	show   func(backend.Update) // nil: nobody wants partial results
	pcm    []byte               // the audio so far, 16-bit little endian

	running sync.WaitGroup // the request for a partial result
	asked   time.Duration  // how long the audio was at the last such request

	mu     sync.Mutex
	busy   bool      // such a request runs
	notBy  time.Time // no such request begins before this time
	broken bool      // such a request has failed: no other follows
}

// Announce implements backend.Announcer.
func (u *utterance) Announce(show func(backend.Update)) { u.show = show }

// Feed implements backend.Stream.
func (u *utterance) Feed(_ context.Context, pcm []float32) (backend.Update, error) {
	u.pcm = appendPCM(u.pcm, pcm)
	if length(u.pcm) > maxAudio {
		return backend.Update{}, fmt.Errorf("%w: an utterance may last %v", pipeline.ErrTooLong, maxAudio)
	}
	if u.due() {
		u.askPartial()
	}
	return backend.Update{}, nil
}

// due reports whether a request for a partial result may begin.
func (u *utterance) due() bool {
	now := length(u.pcm)
	if u.show == nil || now-u.asked < u.engine.o.PartialEvery || now > maxPartial {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return !u.busy && !u.broken && !time.Now().Before(u.notBy)
}

// askPartial begins a request for a partial result. The next one waits at least as long as this one took.
func (u *utterance) askPartial() {
	u.asked, u.busy = length(u.pcm), true
	pcm := u.pcm[:len(u.pcm):len(u.pcm)]
	u.running.Go(func() {
		begin := time.Now()
		r, err := u.engine.ask(u.ctx, u.config, pcm, nil)
		if err == nil && r.Text != "" && u.ctx.Err() == nil {
			u.show(backend.Update{Partial: r.Text})
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		u.busy, u.broken, u.notBy = false, err != nil, time.Now().Add(time.Since(begin))
	})
}

// Finish implements backend.Stream. It cancels the request for a partial result, because the server may work on one request at a time.
func (u *utterance) Finish(ctx context.Context) (backend.Result, error) {
	u.cancel()
	u.running.Wait()
	if len(u.pcm) == 0 {
		return backend.Result{}, nil
	}
	return u.engine.ask(ctx, u.config, u.pcm, u.show)
}

// Close implements backend.Stream.
func (u *utterance) Close() error {
	u.cancel()
	u.running.Wait()
	return nil
}
