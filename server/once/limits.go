package once

// The limits: how many requests with a key are in progress, and how many new keys a principal may use.

import (
	"errors"
	"sync"
	"time"
)

var (
	errBusy  = errors.New("too many requests with a key are in progress")
	errShare = errors.New("this principal has too many requests with a key in progress, or too long ones")
	errQuota = errors.New("this principal has used as many new keys as it may: try again later")
)

// maxPrincipals is how many principals are told apart in the limits. The others share one place.
const maxPrincipals = 10000

// limits counts what the principals use. It is safe for concurrent use.
type limits struct {
	requests int           // in progress, at a time
	share    int           // of one principal
	memory   int           // bytes of the bodies of requests in progress; one principal has half of them
	keys     int           // new ones of one principal in the time keep
	keep     time.Duration // how long a key is kept

	mu    sync.Mutex
	all   int
	bytes int
	of    map[string]*usage
	swept time.Time // when the principals that use nothing were removed
}

// sweepEvery bounds how often all principals are looked at.
const sweepEvery = time.Second

// usage is what one principal uses.
type usage struct {
	requests int
	bytes    int
	keys     float64   // new keys that it has used and that do not count as expired yet
	at       time.Time // when keys was computed
}

// begin counts a request. The returned function ends it.
func (l *limits) begin(principal string, now time.Time) (end func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.usage(principal, now)
	switch {
	case l.all >= l.requests:
		return nil, errBusy
	case u.requests >= l.share:
		return nil, errShare
	}
	l.all++
	u.requests++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all--
		u.requests--
	}, nil
}

// borrow counts the bytes of a body. The returned function gives them back.
func (l *limits) borrow(principal string, bytes int, now time.Time) (giveBack func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.usage(principal, now)
	switch {
	case l.bytes+bytes > l.memory:
		return nil, errBusy
	case u.bytes+bytes > l.memory/2:
		return nil, errShare
	}
	l.bytes += bytes
	u.bytes += bytes
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.bytes -= bytes
		u.bytes -= bytes
	}, nil
}

// newKey counts a key that the store does not have yet.
func (l *limits) newKey(principal string, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.usage(principal, now)
	if u.keys+1 > float64(l.keys) {
		return errQuota
	}
	u.keys++
	return nil
}

// usage returns what a principal uses now. Its used keys expire evenly over the time for which keys are kept.
func (l *limits) usage(principal string, now time.Time) *usage {
	u := l.of[principal]
	if u == nil && len(l.of) >= maxPrincipals {
		if now.Sub(l.swept) >= sweepEvery {
			l.forget(now)
			l.swept = now
		}
		if len(l.of) >= maxPrincipals {
			principal = ""
			u = l.of[principal]
		}
	}
	if u == nil {
		u = &usage{at: now}
		l.of[principal] = u
	}
	l.expire(u, now)
	return u
}

func (l *limits) expire(u *usage, now time.Time) {
	u.keys = max(0, u.keys-float64(l.keys)*now.Sub(u.at).Seconds()/l.keep.Seconds())
	u.at = now
}

// forget removes the principals that use nothing.
func (l *limits) forget(now time.Time) {
	for name, u := range l.of {
		if l.expire(u, now); u.requests == 0 && u.keys == 0 {
			delete(l.of, name)
		}
	}
}
