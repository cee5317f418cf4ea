package store

// The clock of the store: it decides when a lease runs out, for all processes that use the store.

import (
	"context"
	"sync"
	"time"
)

// clock has how far the store's clock is ahead of that of this process.
type clock struct {
	mu       sync.Mutex
	ahead    time.Duration
	measured time.Time
}

// clockFor is how long a measured difference stays true.
const clockFor = time.Minute

// Now returns the time of the store's clock, to about the time of one write. The server inside this process has the clock of this process.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if s.own != nil {
		return time.Now(), nil
	}
	s.now.mu.Lock()
	defer s.now.mu.Unlock()
	if time.Since(s.now.measured) > clockFor {
		ahead, err := s.difference(ctx)
		if err != nil {
			return time.Time{}, err
		}
		s.now.ahead, s.now.measured = ahead, time.Now()
	}
	return time.Now().Add(s.now.ahead), nil
}

// difference writes a value and compares the time that the store gives it with the time here, half-way between before and after.
func (s *Store) difference(ctx context.Context) (time.Duration, error) {
	b, err := s.Bucket(ctx, BucketConfig{Name: schemaBucket, MaxBytes: 1 << 20, MaxValue: 64})
	if err != nil {
		return 0, err
	}
	before := time.Now()
	if err := b.Put(ctx, "clock", nil); err != nil {
		return 0, err
	}
	middle := before.Add(time.Since(before) / 2)
	e, err := b.Get(ctx, "clock")
	if err != nil {
		return 0, err
	}
	return e.Written.Sub(middle), nil
}
