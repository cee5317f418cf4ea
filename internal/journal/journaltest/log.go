// Package journaltest has a journal.Log for tests.
package journaltest

// A log in memory, whose writes a test can see and fail.

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/internal/journal"
)

// entry is one entry of a list.
type entry struct {
	list     string
	value    []byte
	revision uint64
}

// Log is a journal.Log in memory. It is safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	entries []entry
	newest  uint64
	wiped   uint64 // the newest revision that is lost
}

// Wipe removes everything, as a store does that loses its data.
func (l *Log) Wipe() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries, l.wiped = nil, l.newest
}

func (l *Log) Lost(revision uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return revision <= l.wiped
}

// View is what one process sees of a Log. Its hooks are set before its first use.
type View struct {
	*Log
	// Before and After are called with the number of an Append, from 1 on, before and after it writes; nil for none. An error fails the Append.
	Before, After func(n int) error
	// Full is what Room returns, and HalfFull what HalfRoom returns.
	Full     error
	HalfFull atomic.Pointer[error]
	// Most is how many bytes the lists may have; 0 for no limit. Only Left knows it.
	Most int64

	mu    sync.Mutex
	count int
}

func (v *View) Append(ctx context.Context, list string, value []byte, last uint64) (uint64, error) {
	v.mu.Lock()
	v.count++
	n := v.count
	v.mu.Unlock()
	if v.Before != nil {
		if err := v.Before(n); err != nil {
			return 0, err
		}
	}
	revision, err := v.append(list, value, last)
	if err == nil && v.After != nil {
		err = v.After(n)
	}
	if err == nil {
		err = ctx.Err()
	}
	return revision, err
}

func (l *Log) append(list string, value []byte, last uint64) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if newest := l.last(list); newest.revision != last {
		return 0, journal.ErrConflict
	}
	l.newest++
	l.entries = append(l.entries, entry{list, slices.Clone(value), l.newest})
	return l.newest, nil
}

// last returns the newest entry of a list. The caller holds mu.
func (l *Log) last(list string) entry {
	for _, e := range slices.Backward(l.entries) {
		if e.list == list {
			return e
		}
	}
	return entry{}
}

func (l *Log) Last(_ context.Context, list string) ([]byte, uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return found(l.last(list))
}

func (l *Log) Next(_ context.Context, list string, after uint64) ([]byte, uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if e.list == list && e.revision > after {
			return found(e)
		}
	}
	return found(entry{})
}

func found(e entry) ([]byte, uint64, error) {
	if e.revision == 0 {
		return nil, 0, journal.ErrNotFound
	}
	return e.value, e.revision, nil
}

func (l *Log) Trim(_ context.Context, list string, before uint64) error {
	l.drop(func(e entry) bool { return e.list == list && e.revision < before })
	return nil
}

func (l *Log) Remove(_ context.Context, list string) error {
	l.drop(func(e entry) bool { return e.list == list })
	return nil
}

func (l *Log) drop(is func(entry) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = slices.DeleteFunc(l.entries, is)
}

func (v *View) Room(context.Context) error { return v.Full }

func (v *View) HalfRoom(context.Context) error {
	if err := v.HalfFull.Load(); err != nil {
		return *err
	}
	return nil
}

func (v *View) Left(context.Context) (int64, error) {
	if v.Most == 0 {
		return math.MaxInt64 / 2, nil
	}
	v.Log.mu.Lock()
	defer v.Log.mu.Unlock()
	left := v.Most
	for _, e := range v.entries {
		left -= int64(len(e.value))
	}
	return left, nil
}

// Len returns how many entries all lists have.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

var _ journal.Log = (*View)(nil)
