package runs

// The book: reads and writes the logs of the runs, and gives events to their machines.

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// Edge is one step of the machine of a run.
type Edge = machine.Edge[run.State, run.Event, run.Effect]

// book has the logs of all runs. It is safe for concurrent use.
type book struct {
	store *store.Store
	log   *store.Log
	node  string                                        // the name of this Runner
	trace func(id string, e Edge, found, stored uint64) // gets each step after it is stored; nil for none
	crash func(w *writing, at moment) bool              // tests end the owner here; nil for none
}

// moment is when a test may end the owner of a run.
type moment string

const (
	beforeWrite moment = "before the write"
	afterWrite  moment = "after the write"
)

// Limits of a write: how often other writers may be first, how long a write of a turn goes on after the store has failed, and the pause before it
// tries again.
const (
	maxConflicts = 100
	retryFor     = 15 * time.Second
	retryPause   = 100 * time.Millisecond
)

var (
	// ErrNotFound: the principal has no such run.
	ErrNotFound = errors.New("there is no such run")

	errCrashed = errors.New("a test has ended this owner")
)

// key is the name of a run in the store: the hash of its principal, and its id.
type key struct{ principal, id string }

func (k key) String() string { return k.principal + "." + k.id }

// writing is an entry that is being made.
type writing struct {
	id      string
	prev    *entry // the newest entry; with N 0 there is none yet
	next    *entry
	state   run.State
	effects []run.Effect
	edge    *Edge
}

// said is a message that goes before those of the machine.
type said struct {
	kind string
	data any
}

// take gives an event to the machine. If that changes the state, the entry gets the messages before, and then those of the machine.
func (w *writing) take(e run.Event, before ...said) error {
	next, effects, row := run.Table.Next(w.state, e)
	w.edge = &Edge{From: w.state, Event: e, To: next, Effects: effects, Row: row}
	w.effects = effects
	if next == w.state {
		return nil
	}
	w.state, w.next.Event, w.next.State = next, eventFields(e), stateFields(next)
	for _, m := range before {
		if err := w.next.say(w.id, m.kind, m.data); err != nil {
			return err
		}
	}
	for _, f := range effects {
		if data := published(f); data != nil {
			if err := w.next.say(w.id, f.Name(), data); err != nil {
				return err
			}
		}
	}
	return nil
}

// changed reports whether the event has changed the state.
func (w *writing) changed() bool { return w.next.Event != nil }

// take gives one event to the machine of a run, and stores what follows from it.
func (b *book) take(ctx context.Context, k key, e func(*writing) run.Event) (*writing, error) {
	return b.write(ctx, k, false, func(w *writing) error { return w.take(e(w)) })
}

// write appends an entry to the log of a run. f makes it of the newest one; it is called again if another writer was first. An entry that changes
// nothing is not stored. With persist, write tries again for retryFor if the store fails. A write whose result is not known counts if the log has
// its entry.
func (b *book) write(ctx context.Context, k key, persist bool, f func(*writing) error) (*writing, error) {
	give, conflicts := time.Now().Add(retryFor), 0
	var tried *writing // a write whose result is not known
	for {
		w, err := b.tryWrite(ctx, k, tried, f)
		switch {
		case err == nil:
			return w, nil
		case errors.Is(err, store.ErrConflict) && conflicts < maxConflicts:
			conflicts++
			tried = nil
		case errors.Is(err, store.ErrUnavailable) && persist && time.Now().Before(give) && pause(ctx, retryPause):
			if w != nil {
				tried = w
			}
		default:
			return nil, err
		}
	}
}

// tryWrite is one try of write. With an error of the store, it returns the entry whose write may have happened.
func (b *book) tryWrite(ctx context.Context, k key, tried *writing, f func(*writing) error) (*writing, error) {
	if tried != nil {
		e, err := b.next(ctx, k, tried.prev.revision)
		if err == nil && e.Mark == tried.next.Mark {
			return b.stored(tried, e.revision), nil
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return tried, err
		}
	}
	prev, err := b.last(ctx, k)
	if errors.Is(err, ErrNotFound) {
		prev, err = &entry{State: stateFields(run.Queued{})}, nil
	}
	if err != nil {
		return nil, err
	}
	w, err := b.begin(ctx, k, prev)
	if err != nil {
		return nil, err
	}
	if err := f(w); err != nil {
		return nil, err
	}
	if !w.changed() && len(w.next.Messages) == 0 && w.next.Step == nil && w.next.Begin == nil {
		b.traced(w)
		return w, nil
	}
	value, err := json.Marshal(w.next)
	if err != nil {
		return nil, err
	}
	if b.crash != nil && b.crash(w, beforeWrite) {
		return nil, errCrashed
	}
	revision, err := b.log.Append(ctx, k.String(), value, prev.revision)
	if err != nil {
		return w, err
	}
	if b.crash != nil && b.crash(w, afterWrite) {
		return nil, errCrashed
	}
	return b.stored(w, revision), nil
}

// begin returns the entry after prev, before anything has changed.
func (b *book) begin(ctx context.Context, k key, prev *entry) (*writing, error) {
	state, err := prev.State.state()
	if err != nil {
		return nil, err
	}
	now, err := b.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	next := &entry{
		Mark: rand.Text(), Owner: prev.Owner, At: max(millis(now), prev.At), State: prev.State,
		N: prev.N + 1, Bytes: prev.Bytes + prev.length, Seq: prev.Seq, Said: prev.Said, Resumed: prev.Resumed,
	}
	if _, waits := state.(run.WaitingUser); waits {
		next.Question = prev.Question
	}
	return &writing{id: k.id, prev: prev, next: next, state: state}, nil
}

// stored notes that an entry is in the log.
func (b *book) stored(w *writing, revision uint64) *writing {
	w.next.revision = revision
	b.traced(w)
	return w
}

func (b *book) traced(w *writing) {
	if b.trace != nil && w.edge != nil {
		b.trace(w.id, *w.edge, w.prev.revision, w.next.revision)
	}
}

// last returns the newest entry of a run, or ErrNotFound.
func (b *book) last(ctx context.Context, k key) (*entry, error) {
	return read(b.log.Last(ctx, k.String()))
}

// next returns the first entry of a run after a revision, or ErrNotFound.
func (b *book) next(ctx context.Context, k key, after uint64) (*entry, error) {
	return read(b.log.Next(ctx, k.String(), after))
}

func read(s store.Entry, err error) (*entry, error) {
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	e, err := decode(s.Value)
	if err != nil {
		return nil, err
	}
	e.revision, e.written, e.length = s.Revision, s.Written, len(s.Value)
	return e, nil
}

// each calls f with each entry after a revision, and returns the newest revision.
func (b *book) each(ctx context.Context, k key, after uint64, f func(*entry) error) (uint64, error) {
	for {
		e, err := b.next(ctx, k, after)
		if errors.Is(err, ErrNotFound) {
			return after, nil
		}
		if err != nil {
			return after, err
		}
		if err := f(e); err != nil {
			return after, err
		}
		after = e.revision
	}
}

// first returns the first entry of a run. A run whose first entry is gone is gone.
func (b *book) first(ctx context.Context, k key) (*entry, error) {
	e, err := b.next(ctx, k, 0)
	if err == nil && e.Begin == nil {
		return nil, fmt.Errorf("%w: it has expired", ErrNotFound)
	}
	return e, err
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
