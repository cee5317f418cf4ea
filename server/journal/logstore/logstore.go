// Package logstore keeps the journals of calls in a log of server/store.
package logstore

// The journal.Log of a store.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/server/journal"
	"github.com/antiphon-rt/antiphon/server/store"
)

// name is the name of the log in the store.
const name = "calls"

// Log is a journal.Log in a store.
type Log struct{ in *store.Log }

// Open opens the log, and creates it if it is not there. keep is how long an entry stays: longer than a call may be. maxBytes is the limit of all calls together; 0 takes
// half of the store's limit.
func Open(ctx context.Context, s *store.Store, keep time.Duration, maxBytes int64) (*Log, error) {
	in, err := s.Log(ctx, store.LogConfig{Name: name, Keep: keep, MaxBytes: maxBytes})
	if err != nil {
		return nil, err
	}
	return &Log{in}, nil
}

// Append implements journal.Log.
func (l *Log) Append(ctx context.Context, list string, entry []byte, last uint64) (uint64, error) {
	revision, err := l.in.Append(ctx, list, entry, last)
	return revision, known(err)
}

// Last implements journal.Log.
func (l *Log) Last(ctx context.Context, list string) ([]byte, uint64, error) {
	e, err := l.in.Last(ctx, list)
	return e.Value, e.Revision, known(err)
}

// Next implements journal.Log.
func (l *Log) Next(ctx context.Context, list string, after uint64) ([]byte, uint64, error) {
	e, err := l.in.Next(ctx, list, after)
	return e.Value, e.Revision, known(err)
}

// Trim implements journal.Log.
func (l *Log) Trim(ctx context.Context, list string, before uint64) error {
	return l.in.Trim(ctx, list, before)
}

// Remove implements journal.Log.
func (l *Log) Remove(ctx context.Context, list string) error { return l.in.Remove(ctx, list) }

// Room implements journal.Log.
func (l *Log) Room(ctx context.Context) error { return l.in.Room(ctx) }

// HalfRoom implements journal.Log.
func (l *Log) HalfRoom(ctx context.Context) error { return l.in.HalfRoom(ctx) }

// known returns an error of the store as one of the journal.
func known(err error) error {
	switch {
	case errors.Is(err, store.ErrConflict):
		return fmt.Errorf("%w: %w", journal.ErrConflict, err)
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("%w: %w", journal.ErrNotFound, err)
	}
	return err
}

var _ journal.Log = (*Log)(nil)
