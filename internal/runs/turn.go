package runs

// One turn of a Worker: its room, its lease, and its end.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
)

// enter takes the room of one turn. It reports false if there is none: then the run is looked at again when a turn ends. After true, Close waits for
// joined.Done: startTurn calls it at the end of the turn, and whoever does not start it calls it after leave.
func (r *Runner) enter(k key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	if r.all >= r.cfg.MaxRunning || r.busy[k.principal] >= max(1, r.cfg.MaxRunning/2) {
		if !slices.Contains(r.behind, k) {
			r.behind = append(r.behind, k)
		}
		return false
	}
	r.all++
	r.busy[k.principal]++
	r.joined.Add(1) // before Close waits, because r.closed is not set
	return true
}

// leave gives back the room of a turn.
func (r *Runner) leave(principal string) {
	r.mu.Lock()
	behind := r.behind
	r.behind = nil
	r.all--
	if r.busy[principal]--; r.busy[principal] == 0 {
		delete(r.busy, principal)
	}
	r.mu.Unlock()
	for _, k := range behind {
		r.todo.add(k)
	}
}

// errTooLong is the cause with which a turn ends that takes too long.
var errTooLong = errors.New("the turn took too long")

// startTurn starts the turn of an attempt that this Runner has claimed.
func (r *Runner) startTurn(ctx context.Context, k key, attempt run.Attempt, begin *beginning, worker *Worker) {
	ctx, stop := context.WithCancelCause(ctx)
	t := &Turn{r: r, key: k, attempt: attempt, begin: begin, worker: worker, stop: stop, steps: map[string]step{}, answers: map[string]Answer{}}
	r.mu.Lock()
	r.turns[k] = t
	r.mu.Unlock()
	go func() {
		defer r.joined.Done()
		defer stop(nil)
		t.work(ctx)
		r.mu.Lock()
		if r.turns[k] == t {
			delete(r.turns, k)
		}
		r.mu.Unlock()
		r.todo.add(k)
	}()
}

// outcome is what a Worker has returned.
type outcome struct {
	output json.RawMessage
	err    error
}

// work calls the Worker, and tells the machine how the turn has ended. A Worker that does not return after it was told to stop is abandoned: it keeps its room until it returns.
func (t *Turn) work(ctx context.Context) {
	done := make(chan outcome, 1)
	go func() {
		defer t.r.leave(t.key.principal)
		done <- t.call(ctx)
	}()
	late := time.AfterFunc(t.r.cfg.MaxTurn, func() { t.stop(errTooLong) })
	defer late.Stop()
	beat := time.NewTicker(max(t.r.cfg.Lease/3, time.Millisecond))
	defer beat.Stop()
	stopped := ctx.Done()
	var grace <-chan time.Time
	for {
		select {
		case o := <-done:
			t.report(ctx, o)
			return
		case <-beat.C:
			t.renew(ctx)
		case <-stopped:
			stopped, grace = nil, time.After(stopGrace)
		case <-grace:
			t.report(ctx, outcome{err: context.Cause(ctx)})
			return
		}
	}
}

// call reads what earlier attempts have done, and calls the Worker.
func (t *Turn) call(ctx context.Context) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			t.r.cfg.Logger.Error("runs: a worker panicked", "run", t.key.id, "panic", p, "stack", string(debug.Stack()))
			o = outcome{err: &Failure{codeFailed, "the worker panicked"}}
		}
	}()
	_, err := t.r.book.each(ctx, t.key, 0, func(e *entry) error {
		if e.Step != nil {
			t.steps[e.Step.Name] = *e.Step
		}
		if e.Answer != nil {
			t.answers[e.Answer.Name] = e.Answer.Answer
		}
		return nil
	})
	if err != nil {
		return outcome{err: fmt.Errorf("%w: %w", ErrTaken, err)} // the run is left as it is, and taken over when the lease is over
	}
	output, err := t.worker.Work(ctx, t)
	switch {
	case err == nil && len(output) > MaxOutput:
		err = fmt.Errorf("the output has %d bytes: want at most %d", len(output), MaxOutput)
	case err == nil && !json.Valid(output):
		err = errors.New("the output of the worker is not JSON")
	}
	return outcome{output, err}
}

// renew renews the lease, where other processes look at it, and stops the turn if the run is no longer its own.
func (t *Turn) renew(ctx context.Context) {
	if t.r.exclusive() {
		return
	}
	e, err := t.r.book.last(ctx, t.key)
	if err == nil {
		if e.State.Name != (run.Running{}).Name() || e.State.Attempt != t.attempt {
			t.stop(ErrTaken)
			return
		}
		err = t.r.open.Put(ctx, t.key.String(), []byte(t.r.book.node))
	}
	if err != nil && ctx.Err() == nil {
		t.r.cfg.Logger.Warn("runs: a lease was not renewed", "run", t.key.id, "err", err)
	}
}

// report tells the machine how the turn has ended. A turn that waits, or whose run is not its own, has nothing to tell.
func (t *Turn) report(ctx context.Context, o outcome) {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(o.err, ErrWaiting), errors.Is(o.err, ErrTaken), errors.Is(cause, ErrTaken):
		return
	case o.err != nil && errors.Is(cause, errClosing):
		return // the next owner goes on
	case o.err != nil && errors.Is(cause, errTooLong):
		o.err = &Failure{codeFailed, fmt.Sprintf("the turn took longer than %v", t.r.cfg.MaxTurn)}
	}
	result := Result{Output: o.output}
	if o.err != nil {
		result = failed(o.err)
	}
	status := "succeeded"
	if o.err != nil {
		status = "failed"
	}
	err := t.r.storeEnd(context.WithoutCancel(ctx), t.key, status, result, func(w *writing, n run.Result) run.Event {
		if o.err != nil {
			return run.TurnFailed{Attempt: t.attempt, Result: n, At: w.Now.At}
		}
		return run.TurnSucceeded{Attempt: t.attempt, Result: n, At: w.Now.At}
	})
	if err != nil {
		t.r.cfg.Logger.Warn("runs: the end of a turn was not stored; the run is taken over", "run", t.key.id, "err", err)
	}
}

// failed returns the result of a run whose Worker has returned an error.
func failed(err error) Result {
	var f *Failure
	switch {
	case errors.As(err, &f):
		return Result{Code: f.Code, Message: cut(f.Message)}
	case errors.Is(err, ErrUnknown):
		return Result{Code: codeUnknownStep, Message: cut(err.Error())}
	}
	return Result{Code: codeFailed, Message: cut(err.Error())}
}
