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
	errQuota = errors.New("this principal has used as many new keys, or stored as many bytes of responses, as it may: try again later")
)

// maxPrincipals is how many principals are told apart in the limits. The others share one place.
const maxPrincipals = 10000

// limits counts what the principals use. It is safe for concurrent use.
type limits struct {
	requests int           // in progress, at a time
	share    int           // of one principal
	memory   int           // bytes of the bodies of requests in progress; one principal has half of them
	keys     int           // new ones of one principal in the time keep
	stored   int           // bytes of responses of one principal in the time keep
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
	accounts int // open ones
	requests int
	bytes    int
	keys     float64   // new keys that it has used and that do not count as expired yet
	stored   float64   // the same for the bytes of its responses
	at       time.Time // when keys and stored were computed
}

// account is what one try uses. Its try closes it.
type account struct {
	of       *limits
	usage    *usage
	requests int // 1 while the try is in progress
	bytes    int // in memory
}

// open opens the account of a try of this principal.
func (l *limits) open(principal string, now time.Time) *account {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.usage(principal, now)
	u.accounts++
	return &account{of: l, usage: u}
}

// begin counts the try as a request in progress.
func (a *account) begin() error {
	l, u := a.of, a.usage
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.all >= l.requests:
		return errBusy
	case u.requests >= l.share:
		return errShare
	}
	l.all++
	u.requests++
	a.requests++
	return nil
}

// borrow counts bytes of memory that the try takes.
func (a *account) borrow(bytes int) error {
	l, u := a.of, a.usage
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.bytes+bytes > l.memory:
		return errBusy
	case u.bytes+bytes > l.memory/2:
		return errShare
	}
	l.bytes += bytes
	u.bytes += bytes
	a.bytes += bytes
	return nil
}

// close gives back what the try uses.
func (a *account) close() {
	l, u := a.of, a.usage
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all -= a.requests
	l.bytes -= a.bytes
	u.requests -= a.requests
	u.bytes -= a.bytes
	u.accounts--
}

// newKey counts a key that the store does not have yet. The response of an operation that may be repeated need not be stored.
func (a *account) newKey(safe bool, now time.Time) error {
	l, u := a.of, a.usage
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire(u, now)
	if u.keys+1 > float64(l.keys) || !safe && u.stored >= float64(l.stored) {
		return errQuota
	}
	u.keys++
	return nil
}

// newResponse counts a response, and reports whether it is to be stored: that of an operation that may be repeated only if the principal has not stored as much as
// it may.
func (a *account) newResponse(safe bool, bytes int, now time.Time) (store bool) {
	l, u := a.of, a.usage
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire(u, now)
	if safe && u.stored+float64(bytes) > float64(l.stored) {
		return false
	}
	u.stored += float64(bytes)
	return true
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
	u.stored = max(0, u.stored-float64(l.stored)*now.Sub(u.at).Seconds()/l.keep.Seconds())
	u.at = now
}

// forget removes the principals that use nothing.
func (l *limits) forget(now time.Time) {
	for name, u := range l.of {
		if l.expire(u, now); u.accounts == 0 && u.keys == 0 && u.stored == 0 {
			delete(l.of, name)
		}
	}
}
