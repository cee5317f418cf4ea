// Package logstore keeps the journals of calls in a log of internal/store.
package logstore

// The journal.Log of a store.

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// name is the name of the log in the store.
const name = "calls"

// Log is a journal.Log in a store. A revision has two parts: the incarnation of the log in the store, and the revision there.
type Log struct {
	in   *store.Log
	lost atomic.Pointer[func()]
	left atomic.Pointer[left]
	asks atomic.Bool // somebody asks for another left
}

// left is how many bytes were left at a time. It counts for leftFor.
type left struct {
	bytes int64
	at    time.Time
}

// leftFor is how long an answer of Left stays true. In this time a tenth of the room is not used up.
const leftFor = 250 * time.Millisecond

// revisionBits is how many bits of a revision are the revision in the store.
const revisionBits = 40

// Open opens the log, and creates it if it is not there. keep is how long an entry stays: longer than a call may be. maxBytes is the limit of all calls together; 0 takes
// half of the store's limit.
func Open(ctx context.Context, s *store.Store, keep time.Duration, maxBytes int64) (*Log, error) {
	l := &Log{}
	var err error
	l.in, err = s.Log(ctx, store.LogConfig{Name: name, Keep: keep, MaxBytes: maxBytes, Anew: func() {
		if lost := l.lost.Load(); lost != nil {
			(*lost)()
		}
	}})
	return l, err
}

// OnLoss has f called when the store has lost the log, and has made it anew. It does not block for long.
func (l *Log) OnLoss(f func())           { l.lost.Store(&f) }
func (l *Log) Lost(revision uint64) bool { return revision>>revisionBits != l.in.Incarnation() }

// outside returns a revision of the store as one of the journal.
func (l *Log) outside(revision uint64) uint64 { return l.in.Incarnation()<<revisionBits | revision }

// inside returns a revision of the journal as one of the store.
func inside(revision uint64) uint64 { return revision & (1<<revisionBits - 1) }

func (l *Log) Append(ctx context.Context, list string, entry []byte, last uint64) (uint64, error) {
	if last != 0 && l.Lost(last) {
		return 0, fmt.Errorf("%w: the store has lost it", journal.ErrConflict)
	}
	revision, err := l.in.Append(ctx, list, entry, inside(last))
	return l.outside(revision), err
}

func (l *Log) Last(ctx context.Context, list string) ([]byte, uint64, error) {
	return l.entry(l.in.Last(ctx, list))
}

func (l *Log) Next(ctx context.Context, list string, after uint64) ([]byte, uint64, error) {
	return l.entry(l.in.Next(ctx, list, inside(after)))
}

func (l *Log) entry(e store.Entry, err error) ([]byte, uint64, error) {
	if err != nil {
		return nil, 0, err
	}
	return e.Value, l.outside(e.Revision), nil
}

func (l *Log) Trim(ctx context.Context, list string, before uint64) error {
	if l.Lost(before) {
		return nil // nothing of it is there
	}
	return l.in.Trim(ctx, list, inside(before))
}

func (l *Log) Remove(ctx context.Context, list string) error { return l.in.Remove(ctx, list) }
func (l *Log) Room(ctx context.Context) error                { return l.in.Room(ctx) }
func (l *Log) HalfRoom(ctx context.Context) error            { return l.in.HalfRoom(ctx) }

// Left implements journal.Log. One caller at a time asks the store again; the others get the answer before.
func (l *Log) Left(ctx context.Context) (int64, error) {
	if v := l.left.Load(); v != nil && (time.Since(v.at) < leftFor || !l.asks.CompareAndSwap(false, true)) {
		return v.bytes, nil
	}
	defer l.asks.Store(false)
	bytes, err := l.in.Left(ctx)
	if err == nil {
		l.left.Store(&left{bytes, time.Now()})
	}
	return bytes, err
}

var _ journal.Log = (*Log)(nil)
