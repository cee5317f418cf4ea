package runs

// What a Runner does with an open run: it claims it, takes it over, preserves its wait, or ends it.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/steps"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// The codes of results that this package gives to runs.
const (
	codeFailed      = "failed"
	codeCanceled    = "canceled"
	codeExpired     = "expired"
	codeNoWorker    = "no_worker"
	codeUnknownStep = "outcome_unknown"
	codeLost        = "worker_lost"
)

// consider looks at one open run. It is for the loop alone.
func (r *Runner) consider(ctx context.Context, k key) error {
	e, err := r.book.last(ctx, k)
	if errors.Is(err, ErrNotFound) {
		return r.considerUnborn(ctx, k)
	}
	if err != nil {
		return err
	}
	state := e.state()
	if _, ended := run.Terminal(state); ended {
		return r.forget(ctx, k)
	}
	now, err := r.cfg.Store.Now(ctx)
	if err != nil {
		return err
	}
	if now.Sub(began(k.id)) > r.cfg.MaxAge {
		return r.cancel(ctx, k, Result{Code: codeExpired, Message: fmt.Sprintf("the run took longer than %v", r.cfg.MaxAge)})
	}
	first, err := r.book.first(ctx, k)
	if err != nil {
		return err
	}
	worker := r.workers[first.Begin.Tool]
	if worker == nil && !r.exclusive() {
		return nil // another process may have it
	}
	switch s := state.(type) {
	case run.Queued:
		return r.claim(ctx, k, s, first.Begin, worker)
	case run.Running:
		return r.takeOver(ctx, k, e, s, first.Begin, worker, now)
	case run.WaitingUser:
		return r.preserve(ctx, k, e, s, worker, now)
	case run.Succeeded, run.Failed, run.Canceled:
	}
	return nil
}

// considerUnborn removes the key of a run that has no log: its process ended before it wrote the first entry, or the log has expired.
func (r *Runner) considerUnborn(ctx context.Context, k key) error {
	lease, err := r.open.Get(ctx, k.String())
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	now, clock := r.cfg.Store.Now(ctx)
	if err := errors.Join(err, clock); err != nil {
		return err
	}
	gone := r.exclusive() && string(lease.Value) != r.book.node
	if !gone && now.Sub(lease.Written) < r.cfg.Lease {
		return nil // it may be under way
	}
	return r.forget(ctx, k)
}

// forget removes the key of a run that is no longer open.
func (r *Runner) forget(ctx context.Context, k key) error {
	r.mu.Lock()
	if t := r.timers[k]; t != nil {
		t.Stop()
	}
	delete(r.timers, k)
	delete(r.kept, k)
	r.mu.Unlock()
	if _, err := r.open.Get(ctx, k.String()); errors.Is(err, store.ErrNotFound) {
		return nil
	}
	err := r.open.Delete(ctx, k.String())
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.openOf[k.principal]--; r.openOf[k.principal] <= 0 {
			delete(r.openOf, k.principal)
		}
	}
	return err
}

// exclusive reports whether no other process uses the store: whoever owns a run, and is not this Runner, is gone.
func (r *Runner) exclusive() bool { return r.cfg.Store.Exclusive() && !r.cfg.shared }

// claim begins the next attempt of a queued run, if there is room for one.
func (r *Runner) claim(ctx context.Context, k key, s run.Queued, begin *beginning, worker *Worker) error {
	if why := unfit(begin, worker, s.Attempt); why != nil {
		return r.reconcile(ctx, k, *why)
	}
	return r.beginTurn(ctx, k, s.Attempt+1, begin, worker, func(w *writing) run.Event {
		return run.TurnStarted{Attempt: s.Attempt + 1, At: w.Now.At}
	})
}

// beginTurn begins an attempt of a run, if there is room for one. event returns the machine's event for that.
func (r *Runner) beginTurn(ctx context.Context, k key, attempt run.Attempt, begin *beginning, worker *Worker, event func(*writing) run.Event) error {
	if !r.enter(k) {
		return nil
	}
	w, err := r.book.step(ctx, k, func(w *writing) run.Event {
		w.Now.Owner = r.book.node
		return event(w)
	})
	if err != nil || !w.changed() {
		r.leave(k.principal)
		r.joined.Done()
		return err
	}
	r.perform(k, w)
	r.startTurn(ctx, k, attempt, begin, worker)
	return nil
}

// unfit returns why this Runner cannot work on a run; nil if it can.
func unfit(begin *beginning, worker *Worker, attempt run.Attempt) *Result {
	switch {
	case worker == nil:
		return &Result{Code: codeNoWorker, Message: "this server has no background tool " + begin.Tool + " any more"}
	case attempt > 0 && begin.Version != uint64(worker.session()):
		return &Result{Code: codeNoWorker, Message: "the tool " + begin.Tool + " has changed, and does not continue runs that it has begun before"}
	}
	return nil
}

// takeOver takes over a running run whose owner is gone.
func (r *Runner) takeOver(ctx context.Context, k key, e *entry, s run.Running, begin *beginning, worker *Worker, now time.Time) error {
	over, err := r.over(ctx, k, e, s, now)
	if err != nil || !over {
		return err
	}
	why := unfit(begin, worker, s.Attempt)
	if e.Resumed >= maxResumes {
		why = &Result{Code: codeLost, Message: fmt.Sprintf("the run has lost its worker %d times", e.Resumed+1)}
	}
	if why == nil {
		why, err = r.unknownStep(ctx, k)
	}
	if err != nil {
		return err
	}
	if why != nil {
		return r.reconcile(ctx, k, *why)
	}
	return r.beginTurn(ctx, k, s.Attempt+1, begin, worker, func(w *writing) run.Event {
		w.Now.Resumed++
		return run.Resume{Attempt: s.Attempt + 1}
	})
}

// over reports whether the owner of a running run is gone.
func (r *Runner) over(ctx context.Context, k key, e *entry, s run.Running, now time.Time) (bool, error) {
	r.mu.Lock()
	t := r.turns[k]
	r.mu.Unlock()
	if t != nil && t.attempt == s.Attempt {
		return false, nil
	}
	if r.exclusive() && e.Owner != r.book.node {
		return true, nil
	}
	newest := e.written
	lease, err := r.open.Get(ctx, k.String())
	if err == nil && lease.Written.After(newest) {
		newest = lease.Written
	}
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return now.Sub(newest) > r.cfg.Lease, err
}

// unknownStep returns the result of a run of which it is not known whether a step was done; nil for any other run.
func (r *Runner) unknownStep(ctx context.Context, k key) (*Result, error) {
	begun := ""
	_, err := r.book.each(ctx, k, 0, func(e *entry) error {
		switch {
		case e.Step == nil:
		case e.Step.Begun:
			begun = e.Step.Name
		case e.Step.Name == begun:
			begun = ""
		}
		return nil
	})
	if err != nil || begun == "" {
		return nil, err
	}
	return &Result{
		Code: codeUnknownStep, Message: "the server stopped while step " + begun + " was being done, and it is not known whether it was done: look at what it changes before you begin a new run",
	}, nil
}

// preserve keeps the wait of a run over a restart, and goes on without an answer if its time is over.
func (r *Runner) preserve(ctx context.Context, k key, e *entry, s run.WaitingUser, worker *Worker, now time.Time) error {
	if valid, err := r.valid(ctx, k, e, s, worker); err != nil || !valid {
		return err
	}
	if s.Policy != run.AutoDecide || e.Question.Deadline == 0 {
		return nil
	}
	if left := at2time(e.Question.Deadline).Sub(now); left > 0 {
		r.arm(k, left)
		return nil
	}
	w, err := r.book.step(ctx, k, func(w *writing) run.Event {
		w.Now.Answer = &answer{Name: e.Question.Name, Answer: Answer{Decided: true}}
		w.Now.Question = nil
		return run.Timeout{Interaction: s.Pending, At: w.Now.At}
	})
	if err == nil {
		r.perform(k, w)
	}
	return err
}

// valid reports whether a waiting run can go on when it gets its answer. A run that cannot fails. Each Runner checks each question of an earlier owner once.
func (r *Runner) valid(ctx context.Context, k key, e *entry, s run.WaitingUser, worker *Worker) (bool, error) {
	r.mu.Lock()
	checked := e.Owner == r.book.node || r.kept[k] == s.Pending
	r.mu.Unlock()
	if checked {
		return true, nil
	}
	var session run.Session
	if worker != nil {
		session = worker.session()
	}
	var pending run.Interaction
	if e.Question != nil {
		pending = e.Question.Interaction
	}
	if pending != s.Pending || session != s.Session {
		return false, r.reconcile(ctx, k, Result{Code: codeNoWorker, Message: "the server cannot continue the run after its restart: its tool is gone or has changed"})
	}
	w, err := r.book.step(ctx, k, func(*writing) run.Event { return run.Preserve{Interaction: pending, Session: session} })
	if err != nil {
		return false, err
	}
	if now, waits := w.State.(run.WaitingUser); !waits || now.Pending != s.Pending {
		return false, nil // it was answered meanwhile
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept[k] = s.Pending
	return true, nil
}

// arm has the loop look at a run again after a time.
func (r *Runner) arm(k key, after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.timers[k]; t != nil {
		t.Stop()
	}
	if !r.closed {
		r.timers[k] = time.AfterFunc(after, func() { r.todo.add(k) })
	}
}

// reconcile ends a run that cannot be taken up again.
func (r *Runner) reconcile(ctx context.Context, k key, why Result) error {
	r.cfg.Logger.Warn("runs: a run cannot be continued", "run", k.id, "why", why.Message)
	return r.storeEnd(ctx, k, "failed", why, func(w *writing, result run.Result) run.Event {
		return run.Reconcile{Result: result, At: w.Now.At}
	})
}

// cancel ends a run that is not to go on.
func (r *Runner) cancel(ctx context.Context, k key, why Result) error {
	return r.storeEnd(ctx, k, "canceled", why, func(w *writing, result run.Result) run.Event {
		return run.Cancel{Result: result, At: w.Now.At}
	})
}

// storeEnd stores the result of a run together with the event that ends it.
func (r *Runner) storeEnd(ctx context.Context, k key, status string, result Result, event func(*writing, run.Result) run.Event) error {
	w, err := r.book.write(ctx, k, steps.Patience, func(w *writing) error { return w.end(status, result, event) })
	if err == nil {
		r.perform(k, w)
	}
	return err
}

// end gives the machine the event that ends a run. The number of a result is that of the message that has it.
func (w *writing) end(status string, result Result, event func(*writing, run.Result) run.Event) error {
	w.Now.Result, w.Now.Question = &result, nil
	return w.take(event(w, run.Result(w.Now.Seq+1)), newMessage{TypeResult, ended{status, result.Output, result.Code, result.Message}})
}

// perform performs the effects of an entry that is stored.
func (r *Runner) perform(k key, w *writing) {
	for _, f := range w.Effects() {
		switch f := f.(type) {
		case run.StopTurn:
			r.stopTurn(k, f.Attempt)
		case run.ArmTimeout, run.Conclude:
			r.todo.add(k) // the loop arms the time-out, and removes the key of a run that has ended
		case run.StateChanged:
			if f.To == (run.Queued{}).Name() {
				r.todo.add(k)
			}
			r.cfg.Logger.Info("run", "run", k.id, "from", f.From, "to", f.To, "trigger", f.Trigger)
		case run.ReplyAccepted, run.AutoDecided, run.DecideAlone, run.AnswerReply: // published, or returned to who has caused them
		}
	}
	if len(w.Now.Messages) > 0 {
		r.watch.tell(k)
	}
}

// stopTurn tells a turn of this Runner that the run is no longer its own.
func (r *Runner) stopTurn(k key, attempt run.Attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.turns[k]; t != nil && t.attempt == attempt {
		t.stop(ErrTaken)
	}
}
