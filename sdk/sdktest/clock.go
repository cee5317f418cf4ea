package sdktest

// A clock for tests.

import (
	"slices"
	"sync"
	"time"
)

// Clock is an sdk.Clock that stands still until a test advances it. The zero value is ready. Safe for concurrent use.
type Clock struct {
	mu     sync.Mutex
	now    time.Duration
	timers []*timer // sorted by the time at which they ring
}

type timer struct {
	at   time.Duration
	ring func()
}

// Now implements sdk.Clock.
func (c *Clock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc implements sdk.Clock.
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{at: c.now + max(d, 0), ring: f}
	at, _ := slices.BinarySearchFunc(c.timers, t.at+1, func(t *timer, at time.Duration) int { return int(t.at - at) })
	c.timers = slices.Insert(c.timers, at, t)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.timers = slices.DeleteFunc(c.timers, func(other *timer) bool { return other == t })
	}
}

// Advance moves the clock by d. It calls the functions that are due by then, one after another, each at its own time.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now + max(d, 0)
	for len(c.timers) > 0 && c.timers[0].at <= end {
		next := c.timers[0]
		c.timers = c.timers[1:]
		c.now = max(c.now, next.at)
		c.mu.Unlock()
		next.ring()
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}

// Waiting returns how many functions wait for their time.
func (c *Clock) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}
