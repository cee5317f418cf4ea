// Package watchdog bounds the calls of a session into the stages of the pipeline. A stage is not ours: it may hang in any call and ignore its context.
//
// Run calls a stage on a goroutine of its own. The work on that goroutine says before each call how long the call may take (Watch.Expect). When a call takes too long, Run
// returns a Timeout error and abandons the goroutine: the goroutine lasts until the stage returns, nobody waits for it, and what it still brings is refused (Watch.Deliver).
//
// A Guard counts the abandoned goroutines of each stage. When MaxAbandoned of them exist, it refuses new work for that stage until one returns.
package watchdog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// MaxAbandoned is how many goroutines of one stage may be abandoned at a time. Each one keeps what the stage keeps for a call, so this limits what a stage that hangs can hold.
const MaxAbandoned = 64

// Limits are the longest times of the calls into the stages.
type Limits struct {
	Open  time.Duration // Transcriber.Open
	Write time.Duration // one Transcription.Write or CloseInput; neither waits for the engine
	Close time.Duration // Transcription.Close, and every call once its context has ended

	FirstToken    time.Duration // Generate, until its first event
	BetweenTokens time.Duration // Generate, between two events, and from the last one to its return
	FirstAudio    time.Duration // Synthesize, until its first chunk
	BetweenAudio  time.Duration // Synthesize, between two chunks, and from the last one to its return
}

// Defaults returns the limits of a server that is given none. They are long enough for engines that load a model at the first call.
func Defaults() Limits {
	return Limits{
		Open: 15 * time.Second, Write: 5 * time.Second, Close: 3 * time.Second,
		FirstToken: time.Minute, BetweenTokens: 30 * time.Second,
		FirstAudio: 30 * time.Second, BetweenAudio: 15 * time.Second,
	}
}

// Timeout is the error of a call that took longer than its limit.
type Timeout struct {
	Call  string // the call that hangs, in words: "open", "first token"
	Limit time.Duration
}

// Error says which call took too long.
func (t *Timeout) Error() string {
	return fmt.Sprintf("no answer in time: %s took more than %v", t.Call, t.Limit)
}

// Guard starts the work of stages and counts what it had to abandon. One Guard serves all sessions of a server. It is safe for concurrent use.
type Guard struct {
	// Limits are those of the calls. Nobody changes them once the Guard is in use.
	Limits Limits

	env    env.Env
	log    *slog.Logger
	counts *counts
}

// counts are how many goroutines of each stage are abandoned. They are safe for concurrent use.
type counts struct {
	mu sync.Mutex
	of map[string]int // by stage
}

// New returns a Guard with the limits l. It logs nothing.
func New(e env.Env, l Limits) *Guard {
	return &Guard{Limits: l, env: e, log: slog.New(slog.DiscardHandler), counts: &counts{of: map[string]int{}}}
}

// Logging returns a Guard that logs one line for each call that it abandons. It has the limits of g, and counts together with g.
func (g *Guard) Logging(log *slog.Logger) *Guard {
	return &Guard{Limits: g.Limits, env: g.env, log: log, counts: g.counts}
}

// Abandoned returns how many goroutines of a stage hang in a call for which the session no longer waits.
func (g *Guard) Abandoned(stage string) int {
	g.counts.mu.Lock()
	defer g.counts.mu.Unlock()
	return g.counts.of[stage]
}

// AllAbandoned returns what Abandoned returns, for each stage that has had an abandoned goroutine.
func (g *Guard) AllAbandoned() map[string]int {
	g.counts.mu.Lock()
	defer g.counts.mu.Unlock()
	return maps.Clone(g.counts.of)
}

func (g *Guard) count(stage string, change int) {
	g.counts.mu.Lock()
	defer g.counts.mu.Unlock()
	g.counts.of[stage] += change
}

// Run runs work on a goroutine of its own and returns its error. It returns earlier with a *pipeline.StageError around a *Timeout when a call of work takes too long, and when a
// call goes on for Limits.Close after ctx has ended. When work panics, the error is that of room.Contain. Run returns a *pipeline.StageError around pipeline.ErrBusy without
// running work when MaxAbandoned goroutines of the stage are abandoned.
func (g *Guard) Run(ctx context.Context, stage string, work func(w *Watch) error) error {
	if n := g.Abandoned(stage); n >= MaxAbandoned {
		return &pipeline.StageError{
			Stage: stage, Err: fmt.Errorf("%w: %d calls of it have not returned", pipeline.ErrBusy, n),
			Hint: "look at the back end, or restart the server",
		}
	}
	w := &Watch{env: g.env, expired: make(chan *Timeout, 1)}
	done := make(chan error, 1)
	g.env.Go(func() {
		err := room.Contain(stage, func() error { return work(w) })
		done <- err
		if w.end() {
			g.count(stage, -1)
		}
	})
	ended := ctx.Done()
	for {
		select {
		case err := <-done:
			return err
		case <-ended:
			ended = nil
			w.leave(g.Limits.Close)
		case late := <-w.expired:
			if w.abandon() {
				g.count(stage, 1)
				g.log.Info("a call into a stage is abandoned", "stage", stage, "waited_for", late.Call, "limit", late.Limit)
				return &pipeline.StageError{Stage: stage, Err: late}
			}
			return <-done // it returned at the last moment
		}
	}
}

// Synthesize has s speak an utterance, as part of the work of w, and gives the audio to emit. Only the time in which s works counts: emit may
// wait, for example until the audio before it has been played.
func (g *Guard) Synthesize(ctx context.Context, w *Watch, s pipeline.Synthesizer, u pipeline.Utterance, emit func(pcm []int16) error) error {
	w.Expect("the first audio", g.Limits.FirstAudio)
	defer w.Rest()
	return s.Synthesize(ctx, u, func(pcm []int16) error {
		w.Rest()
		defer w.Expect("the next audio", g.Limits.BetweenAudio)
		return emit(pcm)
	})
}

// Generate has m answer a request, on a goroutine of its own, and gives the output to emit. It returns the tokens that m used.
func (g *Guard) Generate(ctx context.Context, m pipeline.Model, r pipeline.Request, emit func(pipeline.ModelEvent) error) (usage pipeline.Usage, err error) {
	err = g.Run(ctx, pipeline.StageModel, func(w *Watch) error {
		w.Expect("the first token", g.Limits.FirstToken)
		used, err := m.Generate(ctx, r, func(e pipeline.ModelEvent) error {
			w.Expect("the next token", g.Limits.BetweenTokens)
			return w.Deliver(func() error {
				if err := emit(e); err != nil {
					return err
				}
				return ctx.Err()
			})
		})
		w.Rest()
		if late := w.Deliver(func() error { usage = used; return nil }); late != nil {
			return late
		}
		return err
	})
	return usage, err
}

// ErrAbandoned is the error that Deliver returns when the session no longer waits for the work.
var ErrAbandoned = errors.New("the call was given up")

// Watch is the clock of one Run. Expect, Rest and Deliver are for the goroutine of the work, or for the goroutine on which the stage calls back.
type Watch struct {
	env     env.Env
	expired chan *Timeout

	mu        sync.Mutex
	running   bool      // a call is expected to end
	call      Timeout   // which one
	due       time.Time // when its limit is over
	timer     env.Timer // nil for none. It may fire before due: a call that follows another moves due and not the timer
	fires     time.Time // when timer fires
	leaving   bool      // the limit of the end stands; Expect and Rest do not change it
	abandoned bool
	ended     bool
}

// Expect starts the time of a call: it takes too long when neither Expect nor Rest follows within limit. call names it.
func (w *Watch) Expect(call string, limit time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.leaving {
		w.arm(Timeout{Call: call, Limit: limit})
	}
}

// Rest stops the time: the stage has returned, or it waits for us.
func (w *Watch) Rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.leaving {
		w.running = false
	}
}

// Deliver calls f with what the stage has brought, and returns the error of f. When Run has returned, Deliver returns ErrAbandoned and does not call f. f must not block.
func (w *Watch) Deliver(f func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.abandoned {
		return ErrAbandoned
	}
	return f()
}

// leave starts the time in which the work has to return, since its context has ended.
func (w *Watch) leave(limit time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaving = true
	w.arm(Timeout{Call: "the end of a cancelled call", Limit: limit})
}

// arm starts the time of a call. The caller holds mu.
func (w *Watch) arm(call Timeout) {
	w.running, w.call, w.due = true, call, w.env.Now().Add(call.Limit)
	if w.timer == nil || w.fires.After(w.due) {
		w.start(call.Limit)
	}
}

// start has the timer fire after d. The caller holds mu.
func (w *Watch) start(d time.Duration) {
	w.stop()
	w.fires = w.env.Now().Add(d)
	var own env.Timer
	own = w.env.AfterFunc(d, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.timer == own {
			w.timer = nil
			w.look()
		}
	})
	w.timer = own
}

// look reports the call if its time is over, and else looks again when it will be. The caller holds mu.
func (w *Watch) look() {
	if !w.running {
		return
	}
	if left := w.due.Sub(w.env.Now()); left > 0 {
		w.start(left)
		return
	}
	late := w.call
	select {
	case w.expired <- &late:
	default: // one is enough
	}
}

// stop stops the timer. The caller holds mu.
func (w *Watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// abandon notes that nobody waits for the work. It reports false when the work has ended already.
func (w *Watch) abandon() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop()
	w.abandoned = !w.ended
	return w.abandoned
}

// end notes that the work has ended. It reports whether it had been abandoned before.
func (w *Watch) end() (wasAbandoned bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop()
	w.ended = true
	return w.abandoned
}
