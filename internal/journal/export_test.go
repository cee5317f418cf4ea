package journal

// What only tests ask a journal.

import (
	"context"

	"github.com/antiphon-rt/antiphon/internal/steps"
)

// Find returns what the journal knows of the call with that token, or ErrUnknown.
func (b *Book) Find(ctx context.Context, token string) (State, error) {
	at := place{b.cfg.Log, list(token)}
	found, err := steps.Swap(ctx, at, 0, func(newest steps.Version) ([]byte, State, error) {
		state, _, err := read(ctx, at, newest)
		return nil, state, err
	})
	return found.Made, err
}

// Owns is Owner without the error.
func (w *Writer) Owns(ctx context.Context) bool {
	owns, _ := w.Owner(ctx)
	return owns
}

// Holds reports whether the calls of a principal have room of the journals.
func (b *Book) Holds() bool { return len(b.room.Held()) > 0 }
