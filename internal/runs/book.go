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
	"github.com/antiphon-rt/antiphon/internal/steps"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// The machine of a run, as the store has it. An entry of the log is a version of its record.
type (
	// Edge is one step of the machine of a run.
	Edge   = machine.Edge[run.State, run.Event, run.Effect]
	kind   = steps.Kind[*entry, run.State, run.Event, run.Effect]
	change = steps.Change[*entry, run.State, run.Event, run.Effect]
)

// book has the logs of all runs. It is safe for concurrent use.
type book struct {
	store *store.Store
	log   *store.Log
	kind  kind
	node  string                        // the name of this Runner
	place func(name string) steps.Place // of the log of a run
}

// ErrNotFound: the principal has no such run.
var ErrNotFound = errors.New("there is no such run")

// key is the name of a run in the store: the hash of its principal, and its id.
type key struct{ principal, id string }

func (k key) String() string { return k.principal + "." + k.id }

// writing is an entry that is being made: Was is the newest entry, which has N 0 if there is none yet, and Now the next one.
type writing struct {
	*change
	id string
}

// newMessage is a message before it has its number.
type newMessage struct {
	kind string
	data any
}

// take gives an event to the machine. If that changes the state, the entry gets the messages before, and then those of the machine.
func (w *writing) take(e run.Event, before ...newMessage) error {
	from := w.State
	effects := w.Take(e)
	if w.State == from {
		return nil
	}
	event := events.Of(e)
	w.Now.Event, w.Now.State = &event, states.Of(w.State)
	for _, f := range effects {
		if data := published(f); data != nil {
			before = append(before, newMessage{f.Name(), data})
		}
	}
	for _, m := range before {
		if err := w.Now.say(w.id, m.kind, m.data); err != nil {
			return err
		}
	}
	return nil
}

// changed reports whether the event has changed the state.
func (w *writing) changed() bool { return w.Now.Event != nil }

// step gives one event to the machine of a run, and stores what follows from it.
func (b *book) step(ctx context.Context, k key, e func(*writing) run.Event) (*writing, error) {
	return b.write(ctx, k, 0, func(w *writing) error { return w.take(e(w)) })
}

// write appends an entry to the log of a run. f makes it of the newest one; it is called again if another writer was first. An entry that changes
// nothing is not stored. While the store fails, write tries again for the time patience.
func (b *book) write(ctx context.Context, k key, patience time.Duration, f func(*writing) error) (*writing, error) {
	c, err := b.kind.Step(ctx, k.id, b.place(k.String()), patience, func(c *change) (err error) {
		if c.Now, err = b.after(ctx, c); err != nil {
			return err
		}
		return f(&writing{c, k.id})
	})
	if err != nil {
		return nil, err
	}
	c.Now.revision = c.Stored
	return &writing{c, k.id}, nil
}

// after returns the next entry, before anything has changed. Its mark makes it different from all others.
func (b *book) after(ctx context.Context, c *change) (*entry, error) {
	now, err := b.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	was := c.Was
	next := &entry{
		Mark: rand.Text(), Owner: was.Owner, At: max(millis(now), was.At), State: was.State,
		N: was.N + 1, Bytes: was.Bytes + was.length, Seq: was.Seq, Said: was.Said, Resumed: was.Resumed,
	}
	if _, waits := c.State.(run.WaitingUser); waits {
		next.Question = was.Question
	}
	return next, nil
}

// encode returns the stored form of an entry; nil for one that has nothing new.
func encode(c *change) ([]byte, error) {
	if e := c.Now; e.Event == nil && len(e.Messages) == 0 && e.Step == nil && e.Begin == nil {
		return nil, nil
	}
	return json.Marshal(c.Now)
}

// last returns the newest entry of a run, or ErrNotFound.
func (b *book) last(ctx context.Context, k key) (*entry, error) {
	return read(b.log.Last(ctx, k.String()))
}

// next returns the first entry of a run after a revision, or ErrNotFound.
func (b *book) next(ctx context.Context, k key, after uint64) (*entry, error) {
	return read(b.log.Next(ctx, k.String(), after))
}

func read(v steps.Version, err error) (*entry, error) {
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	e, _, err := decode(v)
	return e, err
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

// beyond returns the sizes of runs of one principal, and how much more they take than they leave for others. It returns nothing while more than 45 % of the log is free.
func (r *Runner) beyond(ctx context.Context, kept []string) (sizes map[string]int64, beyond int64, err error) {
	left, err := r.book.log.Left(ctx)
	if err != nil || left > r.cfg.MaxBytes/20*9 {
		return nil, 0, err
	}
	sizes, beyond = map[string]int64{}, -left
	for _, name := range kept {
		if sizes[name], err = r.book.log.Size(ctx, name); err != nil {
			return nil, 0, err
		}
		beyond += sizes[name]
	}
	return sizes, beyond, nil
}
