// Package system is what a client's session takes from the machine where its options bring nothing else: the time, timers,
// goroutines and random numbers. Package sdk itself asks the runtime for none of them, so that a test or a simulation can
// supply all of them from one seed.
package system

import (
	"math/rand/v2"
	"time"
)

// Clock is the machine's clock. Make it with NewClock. Safe for concurrent use.
type Clock struct{ begin time.Time }

// NewClock makes a clock that begins at 0.
func NewClock() Clock { return Clock{begin: time.Now()} }

// Now returns the time since NewClock. It never goes back.
func (c Clock) Now() time.Duration { return time.Since(c.begin) }

// AfterFunc calls f once, in a goroutine of its own, when d has passed. stop prevents the call if it has not begun.
func (c Clock) AfterFunc(d time.Duration, f func()) (stop func()) {
	t := time.AfterFunc(d, f)
	return func() { t.Stop() }
}

// Go runs f in a goroutine of its own.
func Go(f func()) { go f() }

// Random gives a random number from 0 to n-1. n must be greater than 0.
func Random(n int64) int64 { return rand.Int64N(n) }
