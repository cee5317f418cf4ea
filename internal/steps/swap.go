package steps

// Swap: changes a value by compare and swap, also when a store loses answers.

import (
	"bytes"
	"context"
	"errors"
	"time"
)

// The errors of a Place. They come wrapped.
var (
	// ErrNotFound: there is no such version.
	ErrNotFound = errors.New("the store has no such key")
	// ErrConflict: somebody else has changed the value.
	ErrConflict = errors.New("the key was changed by another writer")
	// ErrUnavailable: the store does not answer, or cannot write. What was asked for may have happened or not.
	ErrUnavailable = errors.New("the store is not available")
)

// Version is one version of a value. The zero Version stands for a value that is not there.
type Version struct {
	Value    []byte
	Revision uint64    // each later version of the value has a greater one
	Written  time.Time // by the clock of the store
}

// Place is where one value is. It is safe for concurrent use.
type Place interface {
	// Newest returns the newest version, or ErrNotFound.
	Newest(ctx context.Context) (Version, error)
	// After returns the first version after a revision that the store still has, or ErrNotFound.
	After(ctx context.Context, revision uint64) (Version, error)
	// Write stores a value if the newest version still has this revision; 0 means that there is none. It returns the new revision, or ErrConflict.
	// After any other error, the store may have the value, or get it later.
	Write(ctx context.Context, value []byte, revision uint64) (uint64, error)
}

// Patience is how long a step goes on while the store is unavailable, if what has happened already depends on it.
const Patience = 15 * time.Second

// Limits of a Swap: how often other writers may be first, and the pause before it asks a store again that was unavailable.
const (
	maxConflicts = 100
	retryPause   = 100 * time.Millisecond
)

// Swapped is what became of a Swap.
type Swapped[T any] struct {
	Made   T      // what belongs to the value
	Found  uint64 // the revision of the version before; 0 for none
	Stored uint64 // the revision of the new version; 0 if nothing was stored
}

// Swap changes the value at a place. next gets the newest version, and returns the new value with what belongs to it; a nil value leaves the place as it is. No two
// calls of next return the same value: a Swap recognises its own write by it. next is called again if another writer was first. It may return ErrConflict itself, to read again.
//
// While the store is unavailable, Swap tries again for the time patience. It returns the errors of next and of the place. After ErrUnavailable it is not known whether the
// value was stored; after any other error it was not.
func Swap[T any](ctx context.Context, at Place, patience time.Duration, next func(Version) ([]byte, T, error)) (Swapped[T], error) {
	until, conflicts := time.Now().Add(patience), 0
	s := swap[T]{at: at, next: next}
	for {
		err := s.try(ctx)
		switch {
		case err == nil:
			return s.Swapped, nil
		case errors.Is(err, ErrConflict) && conflicts < maxConflicts:
			conflicts++
		case errors.Is(err, ErrUnavailable) && time.Now().Before(until) && Pause(ctx, retryPause):
		default:
			return s.Swapped, err
		}
	}
}

// swap is a Swap in progress.
type swap[T any] struct {
	Swapped[T]
	at      Place
	next    func(Version) ([]byte, T, error)
	value   []byte
	unknown bool // the store may have the value
}

// try is one try of a Swap. A write whose result is not known is written again as it is: at most one of the two can follow the version that was found.
func (s *swap[T]) try(ctx context.Context) error {
	if !s.unknown {
		found, err := s.at.Newest(ctx)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		s.Found = found.Revision
		if s.value, s.Made, err = s.next(found); err != nil || s.value == nil {
			return err
		}
	}
	stored, err := s.at.Write(ctx, s.value, s.Found)
	if err == nil {
		s.Stored = stored
		return nil
	}
	refused := errors.Is(err, ErrConflict)
	if refused && !s.unknown {
		return err
	}
	s.unknown = true
	there, unread := s.at.After(ctx, s.Found)
	switch {
	case unread == nil && bytes.Equal(there.Value, s.value):
		s.Stored = there.Revision
		return nil
	case unread == nil, refused && errors.Is(unread, ErrNotFound):
		s.unknown = false
		return ErrConflict
	case refused:
		return unread
	}
	return err
}

// Pause waits for a while. It reports false if ctx is done before.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
