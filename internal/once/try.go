package once

// One try of a request: performs what the machine of its key answers.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
)

// try is one request with a key.
type try struct {
	id        idempotency.Try
	key       string       // its name in the store
	next      http.Handler // the service
	connects  bool         // next stores Sending itself: it is a Proxy, which has to connect first, or announces
	announces bool         // next calls Sending before it changes anything
	payload   idempotency.Payload
	safe      bool
	body      []byte
	uses      *account // what it takes from the limits

	answer *answer         // the response of the service to this try, also one that is not stored, or the stored one
	whole  http.Header     // the header of the service's response to this try
	holder idempotency.Try // the try that holds the lock while this one waits
	done   bool            // its client has got the response as it came
	given  bool            // its handler takes too long: it was given up, and still counts as a request in progress
}

// newTry returns a number that no other try has.
func newTry() idempotency.Try { return idempotency.Try(max(1, rand.Uint64())) }

// pollEvery is how often a waiting try looks for what another process did.
const pollEvery = 250 * time.Millisecond

// serve answers one try.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, t *try) {
	wait := readWait(r.Header, h.cfg.MaxWait)
	until := time.Now().Add(wait)
	for h.answer(w, r, t, wait > 0, until) {
	}
}

// answer answers a try, or reports that the try checks again. waits says that it may wait until then.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, t *try, waits bool, until time.Time) (again bool) {
	woken, end := h.waiters.on(t.key)
	defer end()
	next, err := h.check(context.WithoutCancel(r.Context()), t)
	if forwards(next) {
		next, err = h.process(w, r, t)
	}
	_, inProgress := next.(idempotency.Wait)
	switch {
	case t.done:
		return false
	case err != nil:
		h.storeFailed(w, err)
		return false
	case inProgress && h.followed(w, r, t):
		return false
	case h.respond(w, t, next, waits) && h.await(r.Context(), next, woken, until):
		return true
	case inProgress:
		h.refuse(w, http.StatusConflict, CodeInFlight, 1, "another try of this request is in progress: try again with the same key, or wait for the response with the header Prefer: wait=SECONDS")
	}
	return false
}

// followed writes the response of the try that holds the lock to the client of a further try, if this process has sent the request and the response streams. It
// reports false if not.
func (h *Handler) followed(w http.ResponseWriter, r *http.Request, t *try) bool {
	rec := h.sent.recorder(t.key, t.holder)
	if rec == nil {
		return false
	}
	begun, err := rec.follow(r.Context(), w, false)
	if err != nil {
		panic(http.ErrAbortHandler) // ends the connection, so that the client does not take the response for whole
	}
	return begun
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
	effects, r, err := h.book.step(ctx, step{
		key: t.key, event: idempotency.Check{Try: t.id, Payload: t.payload, Safe: t.safe}, send: !t.connects,
		begin: func(ctx context.Context) error {
			if err := t.uses.newKey(t.safe, time.Now()); err != nil {
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
				if err = t.uses.borrow(t.answer.Pieces * piece); err == nil {
					err = h.book.load(ctx, t.key, f.Response, t.answer)
				}
			}
			next = f
		case idempotency.Wait:
			if locked, is := r.State.(idempotency.Locked); is {
				t.holder = locked.Try
			}
			next = f
		case idempotency.Grant, idempotency.Forward, idempotency.Refuse, idempotency.SayUnknown, idempotency.SayRetry, idempotency.CheckAgain:
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
