package signal

import (
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/server/session"
	"github.com/antiphon-rt/antiphon/wire"
)

// Rates are what one principal may use; without keys, everyone together. 0 is without limit.
type Rates struct {
	// RequestsPerMinute counts requests that begin something (a call, a WebSocket, a client secret) and responses.
	RequestsPerMinute int
	// TokensPerMinute counts the tokens of responses, input and output. A response is counted when it has ended, so that
	// one may go beyond the limit; the next waits until that is made up for.
	TokensPerMinute int
}

// bucket holds what may be used at once, and fills again.
type bucket struct {
	size   float64
	second float64 // what comes back in a second
	level  float64 // at the time at; below zero where more was used
	at     time.Time
}

func perMinute(limit int, now time.Time) bucket {
	return bucket{size: float64(limit), second: float64(limit) / 60, level: float64(limit), at: now}
}

// fill brings the level up to now.
func (b *bucket) fill(now time.Time) {
	b.level = min(b.size, b.level+b.second*now.Sub(b.at).Seconds())
	b.at = now
}

// wait is how long until the level is at least want. What rounding leaves of that is not waited for.
func (b *bucket) wait(want float64) time.Duration {
	if missing := want - b.level; missing > b.size*1e-9 {
		return time.Duration(missing / b.second * float64(time.Second))
	}
	return 0
}

// budget is what one principal has left. It implements session.Limits.
type budget struct {
	mu               sync.Mutex
	requests, tokens *bucket // nil without limit
}

func newBudget(r Rates, now time.Time) *budget {
	b := &budget{}
	if r.RequestsPerMinute > 0 {
		requests := perMinute(r.RequestsPerMinute, now)
		b.requests = &requests
	}
	if r.TokensPerMinute > 0 {
		tokens := perMinute(r.TokensPerMinute, now)
		b.tokens = &tokens
	}
	return b
}

func (b *budget) each(do func(name string, of *bucket)) {
	now := time.Now()
	if b.requests != nil {
		b.requests.fill(now)
		do("requests", b.requests)
	}
	if b.tokens != nil {
		b.tokens.fill(now)
		do("tokens", b.tokens)
	}
}

// Begin implements session.Limits: it takes one request.
func (b *budget) Begin() (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.each(func(_ string, of *bucket) { wait = max(wait, of.wait(1)) })
	if wait > 0 {
		return wait, false
	}
	if b.requests != nil {
		b.requests.level--
	}
	return 0, true
}

// Spend implements session.Limits.
func (b *budget) Spend(tokens int) []wire.RateLimit {
	b.mu.Lock()
	defer b.mu.Unlock()
	var left []wire.RateLimit
	b.each(func(name string, of *bucket) {
		if name == "tokens" {
			of.level -= float64(tokens)
		}
		left = append(left, wire.RateLimit{
			Name: name, Limit: int(of.size), Remaining: max(0, int(of.level)), ResetSeconds: of.wait(of.size).Seconds(),
		})
	})
	return left
}

// budgets are those of all principals, of whom there are at most as many as keys.
type budgets struct {
	rates Rates
	mu    sync.Mutex
	of    map[string]*budget
}

// find is the principal's budget, nil where nothing is limited.
func (b *budgets) find(principal string) *budget {
	if b.rates == (Rates{}) {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[principal] == nil {
		if b.of == nil {
			b.of = map[string]*budget{}
		}
		b.of[principal] = newBudget(b.rates, time.Now())
	}
	return b.of[principal]
}

// charge takes one request from the principal's budget.
func (b *budgets) charge(principal string) *problem {
	own := b.find(principal)
	if own == nil {
		return nil
	}
	if wait, ok := own.Begin(); !ok {
		return rateLimited(wait)
	}
	return nil
}

// limits is the principal's budget as a session reads it.
func (b *budgets) limits(principal string) session.Limits {
	if own := b.find(principal); own != nil {
		return own
	}
	return nil // and not a nil *budget
}
