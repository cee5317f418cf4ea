// Package growing has the utterances of recognisers that take only whole recordings. Such an utterance collects its audio and has it
// recognised at the end. For partial results it has what there is of it recognised while the user speaks: one request at a time, and so
// seldom that the recogniser works for it at most half of the time.
package growing

// One utterance: collects the audio, asks for partial results at a bounded rate, and for the final one.

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Every is the usual shortest time between two requests for partial results.
const Every = 700 * time.Millisecond

// MaxAudio is the longest utterance. The input buffer of a session has 5 minutes.
const MaxAudio = 6 * time.Minute

// maxPartial is the longest utterance for which partial results are asked: each request sends all of it again.
const maxPartial = time.Minute

// tooSlow is how long a request for a partial result may take. After a slower one the utterance has no more of them: many servers go on with
// a request that was cancelled, and the final request waits behind it.
const tooSlow = 3 * time.Second

// Ask has a recording recognised: mono 16-bit little-endian PCM at pipeline.InputRate, which nobody changes. show gets partial results;
// it is nil where nobody wants them. Ask returns soon after ctx is done.
type Ask func(ctx context.Context, c backend.Config, pcm []byte, show func(backend.Update)) (backend.Result, error)

// Length returns how long a recording for Ask is.
func Length(pcm []byte) time.Duration {
	return time.Duration(len(pcm)) * time.Second / (2 * pipeline.InputRate)
}

// Open begins an utterance, which ends with ctx. every is the shortest time between two requests for partial results. If it is below 0 there
// are none, and Open returns backend.ErrUnimplemented for an utterance that wants them.
func Open(ctx context.Context, c backend.Config, every time.Duration, ask Ask) (backend.Stream, error) {
	if c.Live && every < 0 {
		return nil, fmt.Errorf("%w: partial results are switched off", backend.ErrUnimplemented)
	}
	ctx, cancel := context.WithCancel(ctx)
	return &utterance{ask: ask, every: every, config: c, ctx: ctx, cancel: cancel}, nil
}

// utterance is a backend.Stream and backend.Announcer.
type utterance struct {
	ask    Ask
	every  time.Duration
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
	broken bool      // such a request has failed or was too slow: no other follows
}

func (u *utterance) Announce(show func(backend.Update)) { u.show = show }

func (u *utterance) Feed(_ context.Context, pcm []float32) (backend.Update, error) {
	u.pcm = voice.PCM16ToBytes(u.pcm, voice.FloatToPCM16(nil, pcm))
	if Length(u.pcm) > MaxAudio {
		return backend.Update{}, fmt.Errorf("%w: an utterance may last %v", pipeline.ErrTooLong, MaxAudio)
	}
	if u.due() {
		u.askPartial()
	}
	return backend.Update{}, nil
}

// due reports whether a request for a partial result may begin.
func (u *utterance) due() bool {
	now := Length(u.pcm)
	if u.show == nil || now-u.asked < u.every || now > maxPartial {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return !u.busy && !u.broken && !time.Now().Before(u.notBy)
}

// askPartial begins a request for a partial result. The next one waits at least as long as this one took.
func (u *utterance) askPartial() {
	u.asked, u.busy = Length(u.pcm), true
	pcm := u.pcm[:len(u.pcm):len(u.pcm)]
	u.running.Go(func() {
		begin := time.Now()
		r, err := u.ask(u.ctx, u.config, pcm, nil)
		if err == nil && r.Text != "" && u.ctx.Err() == nil {
			u.show(backend.Update{Partial: r.Text, Through: Length(pcm)})
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		took := time.Since(begin)
		u.busy, u.broken, u.notBy = false, err != nil || took > tooSlow, time.Now().Add(took)
	})
}

// Finish implements backend.Stream. It cancels the request for a partial result, because the server may work on one request at a time.
func (u *utterance) Finish(ctx context.Context) (backend.Result, error) {
	u.cancel()
	u.running.Wait()
	if len(u.pcm) == 0 {
		return backend.Result{}, nil
	}
	return u.ask(ctx, u.config, u.pcm, u.show)
}

func (u *utterance) Close() error {
	u.cancel()
	u.running.Wait()
	return nil
}
