package sdk

// What a session takes from outside: time, goroutines and random numbers. Nothing else in this package asks the runtime
// for them (the linter holds that), so that one seed and one clock decide the whole course of a session.

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk/internal/system"
)

// Clock measures time and waits. Safe for concurrent use.
type Clock interface {
	// Now is the time since any fixed moment; it never goes back.
	Now() time.Duration
	// AfterFunc calls f once, from any goroutine, when d has passed. stop prevents the call if it has not begun.
	AfterFunc(d time.Duration, f func()) (stop func())
}

// NewClock gives the machine's own clock.
func NewClock() Clock { return system.NewClock() }

// environment is the Clock, Go and Random of Options, with the machine's own where they are nil.
type environment struct {
	clock  Clock
	spawn  func(f func())
	random func(n int64) int64
}

func newEnvironment(o *Options) environment {
	e := environment{clock: o.Clock, spawn: o.Go, random: o.Random}
	if e.clock == nil {
		e.clock = NewClock()
	}
	if e.spawn == nil {
		e.spawn = system.Go
	}
	if e.random == nil {
		e.random = system.Random
	}
	return e
}
