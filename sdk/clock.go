package sdk

import "time"

// Clock measures time and waits. Safe for concurrent use.
type Clock interface {
	// Now is the time since any fixed moment; it never goes back.
	Now() time.Duration
	// AfterFunc calls f once, from any goroutine, when d has passed. stop keeps it from being called if that has not begun.
	AfterFunc(d time.Duration, f func()) (stop func())
}

type systemClock struct{ begin time.Time }

// NewClock gives the machine's own clock.
func NewClock() Clock { return systemClock{begin: time.Now()} }

func (c systemClock) Now() time.Duration { return time.Since(c.begin) }

func (c systemClock) AfterFunc(d time.Duration, f func()) func() {
	t := time.AfterFunc(d, f)
	return func() { t.Stop() }
}
