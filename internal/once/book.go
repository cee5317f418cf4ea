package once

// The book: gives events to the machine of a key, whose state is in the store.

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/steps"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// The machine of a key, as the store has it.
type (
	// Edge is one step of the machine of a key.
	Edge   = machine.Edge[idempotency.State, idempotency.Event, idempotency.Effect]
	kind   = steps.Kind[record, idempotency.State, idempotency.Event, idempotency.Effect]
	change = steps.Change[record, idempotency.State, idempotency.Event, idempotency.Effect]
)

// book has the records of all keys. It is safe for concurrent use.
type book struct {
	store   *store.Store
	records *store.Bucket
	bodies  *store.Bucket
	kind    kind
	node    string        // the name of this process
	lease   time.Duration // how long a lock lives that nobody renews
	sent    *inFlight     // the tries of this process that are in progress
}

// step is one event for the machine of a key.
type step struct {
	key   string
	event idempotency.Event
	// send gives the machine Sending in the same write if Check got the lock.
	send bool
	// begin, if not nil, may refuse a key that the store does not have yet.
	begin func(context.Context) error
	// answer is the response of Processed.
	answer *answer
	// patience is how long the step goes on while the store fails.
	patience time.Duration
}

// step gives the machine an event, after LeaseExpired if the lease of the lock has run out. It stores the new state and returns the effects and the record. No other try
// stores the same record, because the record has the event.
func (b *book) step(ctx context.Context, s step) ([]idempotency.Effect, record, error) {
	c, err := b.kind.Step(ctx, s.key, b.records.Place(s.key), s.patience, func(c *change) error { return b.take(ctx, s, c) })
	if err != nil {
		return nil, record{}, err
	}
	return c.Effects(), c.Now, nil
}

// Trace has f get each step of the keys' machines, with the name of the key in the store, the revision of the record that the step has found, and the one that it has
// stored; 0 for none. Steps that are stored together have the same revisions. f must not block; nil is for none. Trace is called before the first request.
func (h *Handler) Trace(f func(key string, e Edge, found, stored uint64)) { h.book.kind.Trace = f }

// take gives the machine the events of a step.
func (b *book) take(ctx context.Context, s step, c *change) error {
	if locked, is := c.State.(idempotency.Locked); is {
		over, err := b.over(ctx, s.key, c.Was, locked.Try)
		if err != nil {
			return err
		}
		if over {
			c.Take(idempotency.LeaseExpired{Lease: locked.Lease})
		}
	}
	c.Take(s.event)
	locked, is := c.State.(idempotency.Locked)
	if is && s.begin != nil && c.Found == 0 {
		if err := s.begin(ctx); err != nil {
			return err
		}
	}
	if check, checks := s.event.(idempotency.Check); is && checks && s.send && locked.Try == check.Try {
		c.Take(idempotency.Sending{Try: check.Try})
	}
	if c.State == c.Was.State {
		return nil
	}
	c.Now = record{State: c.State, Node: b.node, Answer: c.Was.Answer}
	for _, e := range c.Edges {
		c.Now.Events = append(c.Now.Events, e.Event)
	}
	if _, cached := c.State.(idempotency.Cached); cached && s.answer != nil {
		c.Now.Answer = s.answer
	}
	return nil
}

// encode returns the stored form of a changed record.
func encode(c *change) ([]byte, error) {
	if c.State == c.Was.State {
		return nil, nil
	}
	return c.Now.encode()
}

// over reports whether nobody renews the lock of a record any more. A holder that this process knows is in progress whatever the clock says, which may have jumped.
func (b *book) over(ctx context.Context, key string, r record, holder idempotency.Try) (bool, error) {
	if b.sent.recorder(key, holder) != nil {
		return false, nil
	}
	if b.store.Exclusive() && r.Node != b.node {
		return true, nil // its process is gone
	}
	now, err := b.store.Now(ctx)
	return now.Sub(r.written) > b.lease, err
}

// renew writes the record of a lock again, so that its lease begins anew. It reports false if the try no longer holds the lock.
func (b *book) renew(ctx context.Context, key string, try idempotency.Try) (bool, error) {
	done, err := steps.Swap(ctx, b.records.Place(key), 0, func(v steps.Version) ([]byte, bool, error) {
		now, _, err := decode(v)
		if locked, is := now.State.(idempotency.Locked); err != nil || !is || locked.Try != try {
			return nil, false, err
		}
		now.Events = nil
		value, err := now.encode()
		return value, true, err
	})
	return done.Made || err != nil, err
}

// Sizes in bytes: up to inline, the record has the body of a response; a longer body is cut into pieces.
const (
	inline = 256 << 10
	piece  = 512 << 10
)

// keep stores the pieces of a long body, before the record names them.
func (b *book) keep(ctx context.Context, key string, response idempotency.Response, a *answer) error {
	if len(a.Body) <= inline {
		return nil
	}
	n := 0
	for part := range slices.Chunk(a.Body, piece) {
		_, err := steps.Swap(ctx, b.bodies.Place(pieceKey(key, response, n)), steps.Patience, func(steps.Version) ([]byte, bool, error) { return part, true, nil })
		if err != nil {
			return err
		}
		n++
	}
	a.Pieces = n
	return nil
}

// load reads the pieces of a long body.
func (b *book) load(ctx context.Context, key string, response idempotency.Response, a *answer) error {
	if a.Pieces == 0 || a.Body != nil {
		return nil
	}
	var body []byte
	for n := range a.Pieces {
		e, err := b.bodies.Get(ctx, pieceKey(key, response, n))
		if err != nil {
			return fmt.Errorf("%w: piece %d of a stored response: %w", store.ErrUnavailable, n, err)
		}
		body = append(body, e.Value...)
	}
	a.Body = body
	return nil
}

func pieceKey(key string, response idempotency.Response, n int) string {
	return key + "." + strconv.FormatUint(uint64(response), 16) + "." + strconv.Itoa(n)
}
