package store

// The clock of the store: it decides when a lease runs out, for all processes that use the store.

import (
	"context"
	"fmt"
	"time"
)

// clock has the time of the store's clock at one moment.
type clock struct {
	one      chan struct{} // has room for the one that reads or writes the fields below
	then     time.Time     // by the store's clock
	measured time.Time     // the same moment by the clock of this process, whose jumps do not count in time.Since
}

// clockFor is how long Now adds to a measured time before it measures again.
const clockFor = time.Minute

// Now returns the time of the store's clock. Its error is at most about the time of one write. A server inside this process has the wall clock of this process, which may jump.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if s.own != nil {
		return time.Now(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	select {
	case s.now.one <- struct{}{}:
		defer func() { <-s.now.one }()
	case <-ctx.Done():
		return time.Time{}, fmt.Errorf("%w: its clock could not be read", ErrUnavailable)
	}
	if s.now.measured.IsZero() || time.Since(s.now.measured) > clockFor {
		then, measured, err := s.measure(ctx)
		if err != nil {
			return time.Time{}, err
		}
		s.now.then, s.now.measured = then, measured
	}
	return s.now.then.Add(time.Since(s.now.measured)), nil
}

// measure writes a value, and returns the time that the store gives it, and when this was by the clock of this process: half-way between before and after.
func (s *Store) measure(ctx context.Context) (then, measured time.Time, err error) {
	b, err := s.Bucket(ctx, BucketConfig{Name: schemaBucket, MaxBytes: 1 << 20, MaxValue: 64})
	if err != nil {
		return then, measured, err
	}
	before := time.Now()
	if err := b.Put(ctx, "clock", nil); err != nil {
		return then, measured, err
	}
	middle := before.Add(time.Since(before) / 2)
	e, err := b.Get(ctx, "clock")
	return e.Written, middle, err
}
