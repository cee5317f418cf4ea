package once

// The try that holds the lock: has the service process its request, and stores the response.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/steps"
	"github.com/antiphon-rt/antiphon/internal/store"
)

var (
	errNoAnswer = errors.New("the service took too long")
	errLost     = errors.New("another try holds the lock")
)

// graceTime is how long after Config.Timeout a handler may take to notice it.
const graceTime = 2 * time.Second

// longestStream is how long a response may stream.
const longestStream = time.Hour

// process has the service process the request of a try that holds the lock, renews the lease meanwhile, and stores the response. The service gets its
// time also when the client is gone: the next try wants the response. The client of the try gets a response that streams as it comes.
func (h *Handler) process(w http.ResponseWriter, r *http.Request, t *try) (idempotency.Effect, error) {
	own := context.WithoutCancel(r.Context())
	ctx, cancel := context.WithCancel(own)
	limit, began := time.AfterFunc(h.cfg.Timeout, cancel), time.Now()
	rec := newRecorder(h.cfg, func() { h.waiters.wake(t.key) }, func() {
		limit.Reset(max(0, min(h.cfg.Timeout, longestStream-time.Since(began))))
	}, ctx.Done())
	c := &claim{h: h, t: t, rec: rec}
	t.answer = nil
	remove := h.sent.add(t.key, t.id, rec)
	out := withBody(context.WithValue(ctx, claimKey{}, c), r, t.body)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		c.run(t.next, out)
		limit.Stop()
	}()
	type streamed struct {
		begun bool
		err   error
	}
	client := make(chan streamed, 1)
	go func() {
		begun, err := rec.follow(r.Context(), w, true)
		client <- streamed{begun, err}
	}()
	next, err := h.finish(own, ctx, t, c, done)
	remove()
	rec.finish(wholeness(t, next, err))
	switch got := <-client; {
	case got.err != nil:
		panic(http.ErrAbortHandler) // ends the connection, so that the client does not take the response for whole
	case got.begun:
		t.done = true
	}
	return next, err
}

// wholeness returns an error if what a service has streamed is not the response of its try.
func wholeness(t *try, next idempotency.Effect, err error) error {
	switch f := next.(type) {
	case idempotency.Reply:
		if err == nil && !f.Replayed {
			return nil
		}
	case idempotency.SayRetry:
		if err == nil && t.answer != nil {
			return nil // the response is whole, and it is not kept
		}
	}
	return errCut
}

// finish waits until the service is done with the request of a try, or takes too long, and tells the machine what came of it.
func (h *Handler) finish(own, request context.Context, t *try, c *claim, done <-chan struct{}) (idempotency.Effect, error) {
	if h.hold(own, request.Done(), t, done) {
		return h.settle(own, t, c)
	}
	// The handler does not come back. Its response may still come.
	t.given = true
	late := *t
	go func() {
		defer late.uses.close()
		<-done
		if _, err := h.settle(own, &late, c); err != nil {
			h.cfg.Logger.Warn("once: a late response was not stored", "err", err)
		}
	}()
	return h.giveUp(own, t, errNoAnswer)
}

// hold renews the lease of a try until its handler is done. It reports false if the handler goes on for graceTime after its time is over.
func (h *Handler) hold(ctx context.Context, over <-chan struct{}, t *try, done <-chan struct{}) bool {
	var late <-chan time.Time
	renew := time.NewTicker(max(h.cfg.Lease/3, time.Millisecond))
	defer renew.Stop()
	for {
		select {
		case <-done:
			return true
		case <-over:
			grace := time.NewTimer(graceTime)
			defer grace.Stop()
			over, late = nil, grace.C
		case <-late:
			return false
		case <-renew.C:
			held, err := h.book.renew(ctx, t.key, t.id)
			if err != nil {
				h.cfg.Logger.Warn("once: a lease was not renewed", "err", err)
			}
			if !held {
				renew.Stop() // the response may still resolve what is unknown
			}
		}
	}
}

// settle tells the machine what came of a request.
func (h *Handler) settle(ctx context.Context, t *try, c *claim) (idempotency.Effect, error) {
	rec := c.rec
	a, whole, err := rec.result()
	if err != nil {
		return h.giveUp(ctx, t, err)
	}
	if t.announces && !c.announced.Load() { // the service has changed nothing
		if h.cfg.Retry(a.Status) {
			t.answer, t.whole = a, whole
			return h.release(ctx, t)
		}
		if err := c.sending(ctx); err != nil { // for the record: what is stored was sent
			return h.giveUp(ctx, t, err)
		}
	}
	if t.safe && (rec.tooLong() || h.cfg.Retry(a.Status)) || !t.uses.newResponse(t.safe, len(a.Body)+size(a.Header), time.Now()) {
		t.answer, t.whole = a, whole
		return h.release(ctx, t)
	}
	response := idempotency.Response(t.id)
	if err := h.book.keep(ctx, t.key, response, a); err != nil {
		return nil, err
	}
	t.answer, t.whole = a, whole
	effects, r, err := h.book.step(ctx, step{
		key: t.key, event: idempotency.Processed{Try: t.id, Response: response}, answer: a, patience: steps.Patience,
	})
	if err != nil {
		return nil, err
	}
	return h.perform(ctx, t, effects, r)
}

// giveUp tells the machine that no response will come.
func (h *Handler) giveUp(ctx context.Context, t *try, why error) (idempotency.Effect, error) {
	h.cfg.Logger.Warn("once: the service gave no response", "err", why)
	return h.release(ctx, t)
}

// release gives the lock of a try back, without a response that is stored.
func (h *Handler) release(ctx context.Context, t *try) (idempotency.Effect, error) {
	effects, r, err := h.book.step(ctx, step{key: t.key, event: idempotency.GaveUp{Try: t.id}, patience: steps.Patience})
	if err != nil {
		return nil, err
	}
	return h.perform(ctx, t, effects, r)
}

// claim is the lock of a try while the service processes its request.
type claim struct {
	h   *Handler
	t   *try
	rec *recorder

	announced atomic.Bool // the service has called Sending
}

// Sending stores that the service is about to do what the request of this context asks for. Services that Config.Announces names call it before they change anything,
// and do nothing if it returns an error. For a request without a key it does nothing.
func Sending(ctx context.Context) error {
	c, claimed := ctx.Value(claimKey{}).(*claim)
	if !claimed || !c.t.announces || c.announced.Swap(true) {
		return nil
	}
	if err := c.sending(ctx); err != nil {
		return fmt.Errorf("%w: the idempotency key of the request: %w", store.ErrUnavailable, err)
	}
	return nil
}

// claimKey is the key of the claim in a request's context.
type claimKey struct{}

// run calls the service. A handler that panics has given no response.
func (c *claim) run(next http.Handler, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			c.rec.fail(fmt.Errorf("the handler panicked: %v", p))
		}
	}()
	next.ServeHTTP(c.rec, r)
	if r.Context().Err() != nil {
		c.rec.late()
	}
}

// sending stores that the request is about to be sent. Only if it returns nil may the request be sent.
func (c *claim) sending(ctx context.Context) error {
	effects, r, err := c.h.book.step(ctx, step{key: c.t.key, event: idempotency.Sending{Try: c.t.id}, patience: steps.Patience})
	if err != nil {
		return err
	}
	next, err := c.h.perform(ctx, c.t, effects, r)
	if _, forward := next.(idempotency.Forward); err == nil && !forward {
		err = errLost
	}
	return err
}
