// Package env gives a session the services of the machine that it runs on: the clock, timers, goroutines and random names. A test or a simulator that brings its own Env decides
// when timers fire, in which order goroutines run, and which names are given, so that one seed plays the same session again.
//
// System is the real machine. Packages below internal/call/session and internal/call/link use an Env and never the runtime; the linter holds that.
package env

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"io"
	"time"
)

// Env is the machine that a session runs on. Its methods are safe for concurrent use and do not block.
type Env interface {
	// Now is the present time, with a monotonic part for differences.
	Now() time.Time
	// AfterFunc calls f on a goroutine of its own once d has passed, unless the timer is stopped before.
	AfterFunc(d time.Duration, f func()) Timer
	// Go runs f on a goroutine of its own.
	Go(f func())
	// NewID returns a name that is unique and cannot be guessed: prefix and 24 letters or digits (120 random bits).
	NewID(prefix string) string
}

// Timer is a call that is still to come.
type Timer interface {
	// Stop prevents the call. It reports false when the call has begun or was stopped before.
	Stop() bool
}

// System returns the real machine.
func System() Env { return system{} }

type system struct{}

func (system) Now() time.Time { return time.Now() }

func (system) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

func (system) Go(f func()) { go f() }

var idAlphabet = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func (system) NewID(prefix string) string {
	return NameFrom(rand.Reader, prefix)
}

// NameFrom is Env.NewID with the random bytes of a reader that never fails.
func NameFrom(random io.Reader, prefix string) string {
	var b [15]byte
	_, _ = random.Read(b[:])
	return prefix + idAlphabet.EncodeToString(b[:])
}

// WithTimeout returns a context that is cancelled with cause once d has passed on e's clock, or when cancel is called. The caller calls cancel when it needs the context no more.
func WithTimeout(e Env, parent context.Context, d time.Duration, cause error) (ctx context.Context, cancel context.CancelFunc) {
	ctx, cancelCause := context.WithCancelCause(parent)
	timer := e.AfterFunc(d, func() { cancelCause(cause) })
	return ctx, func() {
		timer.Stop()
		cancelCause(context.Canceled)
	}
}
