package once

// One try of a request: performs what the machine of its key answers.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/antiphon-rt/antiphon/coord/idempotency"
)

// try is one request with a key.
type try struct {
	id        idempotency.Try
	key       string       // its name in the store
	next      http.Handler // the service
	connects  bool         // next is a Proxy: it stores Sending itself, when it has connected
	principal string
	payload   idempotency.Payload
	safe      bool
	body      []byte
	end       func() // it is no longer in progress

	answer *answer     // the response of the service to this try, also one that is not stored, or the stored one
	whole  http.Header // the header of the service's response to this try
	given  bool        // its handler takes too long: it was given up, and still counts as a request in progress
}

// newTry returns a number that no other try has.
func newTry() idempotency.Try { return idempotency.Try(max(1, rand.Uint64())) }

// pollEvery is how often a waiting try looks for what another process did.
const pollEvery = 250 * time.Millisecond

// serve answers one try.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, t *try) {
	wait := readWait(r.Header, h.cfg.MaxWait)
	until := time.Now().Add(wait)
	for {
		woken, end := h.waiters.on(t.key)
		next, err := h.check(context.WithoutCancel(r.Context()), t)
		if forwards(next) {
			next, err = h.process(r, t)
		}
		if err != nil {
			end()
			h.storeFailed(w, err)
			return
		}
		again := h.respond(w, t, next, wait > 0) && h.await(r.Context(), next, woken, until)
		end()
		if again {
			continue
		}
		if _, waits := next.(idempotency.Wait); waits {
			h.refuse(w, http.StatusConflict, CodeInFlight, 1, "another try of this request is in progress: try again with the same key, or wait for the response with the header Prefer: wait=SECONDS")
		}
		return
	}
}

func forwards(f idempotency.Effect) bool {
	switch f.(type) {
	case idempotency.Grant, idempotency.Forward:
		return true
	}
	return false
}

// check asks the machine of the key what becomes of the try.
func (h *Handler) check(ctx context.Context, t *try) (idempotency.Effect, error) {
	effects, r, err := h.book.take(ctx, step{
		key: t.key, event: idempotency.Check{Try: t.id, Payload: t.payload, Safe: t.safe}, send: !t.connects,
		begin: func(ctx context.Context) error {
			if err := h.limits.newKey(t.principal, time.Now()); err != nil {
				return err
			}
			if err := h.book.records.Room(ctx); err != nil {
				return err
			}
			return h.book.bodies.Room(ctx)
		},
	})
	if err != nil {
		return nil, err
	}
	return h.perform(ctx, t, effects, r)
}

// perform performs the effects of a step that is stored, and returns the answer to the try.
func (h *Handler) perform(ctx context.Context, t *try, effects []idempotency.Effect, r record) (next idempotency.Effect, err error) {
	for _, f := range effects {
		switch f := f.(type) {
		case idempotency.Wake:
			h.waiters.wake(t.key)
		case idempotency.ArmLease:
			// The store has armed it: the lease runs from the time of the write.
			h.cfg.Logger.Debug("once: a lease began", "lease", f.Lease)
		case idempotency.Reply:
			if f.Replayed {
				t.answer, t.whole = r.Answer, nil
				err = h.book.load(ctx, t.key, f.Response, t.answer)
			}
			next = f
		case idempotency.Grant, idempotency.Wait, idempotency.Forward, idempotency.Refuse, idempotency.SayUnknown, idempotency.SayRetry,
			idempotency.CheckAgain:
			next = f
		}
	}
	return next, err
}

// respond writes the answer to a try. It reports true if there is none yet: the try checks again.
func (h *Handler) respond(w http.ResponseWriter, t *try, next idempotency.Effect, waits bool) bool {
	switch f := next.(type) {
	case idempotency.Reply:
		reply(w, t.answer, t.whole, f)
	case idempotency.Refuse:
		h.refuse(w, http.StatusUnprocessableEntity, CodeReused, 0, "this Idempotency-Key was used with another request: use a new key for a new request")
	case idempotency.SayUnknown:
		h.refuse(w, http.StatusBadGateway, CodeUnknown, 0, "this request was sent to the service and no response came. It is not known whether the service has processed it. It is not sent again with this key: look at the service's data before you send it with a new key")
	case idempotency.SayRetry:
		if t.answer != nil {
			reply(w, t.answer, t.whole, idempotency.Reply{})
			return false
		}
		h.refuse(w, http.StatusServiceUnavailable, CodeRetry, 1, "the service gave no response, and it is safe to try again with the same key")
	case idempotency.Wait:
		return waits
	case idempotency.CheckAgain:
		return true
	case idempotency.Grant, idempotency.Forward, idempotency.ArmLease, idempotency.Wake:
		panic(fmt.Sprintf("once: %s is no answer", next.Name()))
	case nil:
		panic("once: the machine did not answer a try")
	}
	return false
}

// await waits until the lock may be free. It reports false if the try has waited long enough or its client is gone.
func (h *Handler) await(ctx context.Context, next idempotency.Effect, woken <-chan struct{}, until time.Time) bool {
	if _, waits := next.(idempotency.Wait); !waits {
		return ctx.Err() == nil // CheckAgain: at once
	}
	left := time.Until(until)
	if left <= 0 {
		return false
	}
	timer := time.NewTimer(min(left, pollEvery))
	defer timer.Stop()
	select {
	case <-woken:
		return true
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

var (
	errNoAnswer = errors.New("the service took too long")
	errLost     = errors.New("another try holds the lock")
)

// graceTime is how long after Config.Timeout a handler may take to notice it.
const graceTime = 2 * time.Second

// process has the service process the request of a try that holds the lock, renews the lease meanwhile, and stores the response. The service gets its
// time also when the client is gone: the next try wants the response.
func (h *Handler) process(r *http.Request, t *try) (idempotency.Effect, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), h.cfg.Timeout)
	c := &claim{h: h, t: t, rec: newRecorder(h.cfg)}
	t.answer = nil
	out := withBody(context.WithValue(ctx, claimKey{}, c), r, t.body)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		c.run(t.next, out)
	}()
	own := context.WithoutCancel(r.Context())
	if h.hold(own, t, done) {
		return h.settle(own, t, c.rec)
	}
	// The handler does not come back. Its response may still come.
	t.given = true
	late := *t
	go func() {
		defer late.end()
		<-done
		if _, err := h.settle(own, &late, c.rec); err != nil {
			h.cfg.Logger.Warn("once: a late response was not stored", "err", err)
		}
	}()
	return h.giveUp(own, t, errNoAnswer)
}

// hold renews the lease of a try until its handler is done. It reports false if the handler takes longer than it may.
func (h *Handler) hold(ctx context.Context, t *try, done <-chan struct{}) bool {
	late := time.NewTimer(h.cfg.Timeout + graceTime)
	defer late.Stop()
	renew := time.NewTicker(max(h.cfg.Lease/3, time.Millisecond))
	defer renew.Stop()
	for {
		select {
		case <-done:
			return true
		case <-late.C:
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
func (h *Handler) settle(ctx context.Context, t *try, rec *recorder) (idempotency.Effect, error) {
	a, whole, err := rec.result()
	if err != nil {
		return h.giveUp(ctx, t, err)
	}
	if t.safe && h.cfg.Retry(a.Status) {
		t.answer, t.whole = a, whole
		return h.release(ctx, t)
	}
	response := idempotency.Response(t.id)
	if err := h.book.keep(ctx, t.key, response, a); err != nil {
		return nil, err
	}
	t.answer, t.whole = a, whole
	effects, r, err := h.book.take(ctx, step{
		key: t.key, event: idempotency.Processed{Try: t.id, Response: response}, answer: a, persist: true,
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
	effects, r, err := h.book.take(ctx, step{key: t.key, event: idempotency.GaveUp{Try: t.id}, persist: true})
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
}

// sending stores that the request is about to be sent. Only if it returns nil may the request be sent.
func (c *claim) sending(ctx context.Context) error {
	effects, r, err := c.h.book.take(ctx, step{key: c.t.key, event: idempotency.Sending{Try: c.t.id}, persist: true})
	if err != nil {
		return err
	}
	next, err := c.h.perform(ctx, c.t, effects, r)
	if _, forward := next.(idempotency.Forward); err == nil && !forward {
		err = errLost
	}
	return err
}
