package once

// The book: gives events to the machine of a key, whose state is in the store.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// Edge is one step of the machine of a key.
type Edge = machine.Edge[idempotency.State, idempotency.Event, idempotency.Effect]

// book has the records of all keys. It is safe for concurrent use.
type book struct {
	store   *store.Store
	records *store.Bucket
	bodies  *store.Bucket
	node    string                                         // the name of this process
	lease   time.Duration                                  // how long a lock lives that nobody renews
	sent    *inFlight                                      // the tries of this process that are in progress
	trace   func(key string, e Edge, found, stored uint64) // see Handler.Trace
}

// Limits of a step: how often other writers may be first, how long a step goes on after the store has failed, and the pause before it tries again.
const (
	maxConflicts = 100
	retryFor     = 15 * time.Second
	retryPause   = 100 * time.Millisecond
)

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
	// persist tries again for retryFor if the store fails.
	persist bool
}

// take gives the machine the event, after LeaseExpired if the lease of the lock has run out. It stores the new state and returns the effects and the
// record. A write whose result is not known counts if the next look finds its state: no other try can have stored the same.
func (b *book) take(ctx context.Context, s step) ([]idempotency.Effect, record, error) {
	var edges []Edge // of the last try
	var found uint64 // the revision that they have found
	var want record  // what the last write would have left
	give, conflicts := time.Now().Add(retryFor), 0
	for {
		now, revision, err := b.read(ctx, s.key)
		if err == nil {
			if want.State != nil && now.State == want.State {
				return b.taken(s.key, edges, found, revision), want, nil
			}
			var next record
			if next, edges, err = b.next(ctx, s, now, revision); err == nil {
				if next.State == now.State {
					return b.taken(s.key, edges, revision, 0), now, nil // there is nothing to store
				}
				found = revision
				var stored uint64
				if stored, err = b.write(ctx, s.key, next, revision); err == nil {
					return b.taken(s.key, edges, found, stored), next, nil
				}
				want = next
			}
		}
		switch {
		case errors.Is(err, store.ErrConflict) && conflicts < maxConflicts:
			conflicts++
		case s.persist && errors.Is(err, store.ErrUnavailable) && time.Now().Before(give) && pause(ctx, retryPause):
		default:
			return nil, record{}, err
		}
	}
}

// Trace has f get each step of the keys' machines, with the name of the key in the store, the revision of the record that the step has found, and the one that it has
// stored; 0 for none. Steps that are stored together have the same revisions. f must not block; nil is for none. Trace is called before the first request.
func (h *Handler) Trace(f func(key string, e Edge, found, stored uint64)) { h.book.trace = f }

// taken traces the steps of a key, and returns their effects. stored is 0 if there was nothing to store.
func (b *book) taken(key string, edges []Edge, found, stored uint64) (effects []idempotency.Effect) {
	for _, e := range edges {
		if b.trace != nil {
			b.trace(key, e, found, stored)
		}
		effects = append(effects, e.Effects...)
	}
	return effects
}

// next computes what a step leaves of a record.
func (b *book) next(ctx context.Context, s step, now record, revision uint64) (record, []Edge, error) {
	next := record{State: now.State, Node: b.node, Answer: now.Answer}
	var edges []Edge
	give := func(e idempotency.Event) {
		to, effects, row := idempotency.Table.Next(next.State, e)
		edges = append(edges, Edge{From: next.State, Event: e, To: to, Effects: effects, Row: row})
		next.State, next.Events = to, append(next.Events, e)
	}
	if locked, is := now.State.(idempotency.Locked); is {
		over, err := b.over(ctx, s.key, now, locked.Try)
		if err != nil {
			return next, nil, err
		}
		if over {
			give(idempotency.LeaseExpired{Lease: locked.Lease})
		}
	}
	give(s.event)
	locked, is := next.State.(idempotency.Locked)
	if is && s.begin != nil && revision == 0 {
		if err := s.begin(ctx); err != nil {
			return next, nil, err
		}
	}
	if check, checks := s.event.(idempotency.Check); is && checks && s.send && locked.Try == check.Try {
		give(idempotency.Sending{Try: check.Try})
	}
	if _, is := next.State.(idempotency.Cached); is && s.answer != nil {
		next.Answer = s.answer
	}
	return next, edges, nil
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
	for range maxConflicts {
		now, revision, err := b.read(ctx, key)
		if err != nil {
			return true, err
		}
		if locked, is := now.State.(idempotency.Locked); !is || locked.Try != try {
			return false, nil
		}
		now.Events = nil
		if _, err := b.write(ctx, key, now, revision); !errors.Is(err, store.ErrConflict) {
			return true, err
		}
	}
	return true, store.ErrConflict
}

// read returns the record of a key and its revision. A key that the store does not have is Free, with revision 0.
func (b *book) read(ctx context.Context, key string) (record, uint64, error) {
	e, err := b.records.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return record{State: idempotency.Free{}}, 0, nil
	}
	if err != nil {
		return record{}, 0, err
	}
	r, err := decode(e.Value)
	r.written = e.Written
	return r, e.Revision, err
}

// write stores a record if the newest one has the revision, and returns the new revision.
func (b *book) write(ctx context.Context, key string, r record, revision uint64) (uint64, error) {
	data, err := r.encode()
	if err != nil {
		return 0, err
	}
	return b.records.Update(ctx, key, data, revision)
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
	n, give := 0, time.Now().Add(retryFor)
	for part := range slices.Chunk(a.Body, piece) {
		err := b.bodies.Put(ctx, pieceKey(key, response, n), part)
		for errors.Is(err, store.ErrUnavailable) && time.Now().Before(give) && pause(ctx, retryPause) {
			err = b.bodies.Put(ctx, pieceKey(key, response, n), part)
		}
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

// pause waits for a while. It reports false if ctx is done before.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
