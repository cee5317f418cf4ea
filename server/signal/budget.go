package signal

import (
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/server/session/ratelimit"
	"github.com/antiphon-rt/antiphon/wire"
)

// The budgets of principals: how many requests and tokens they use in a minute.

// Rates limit what one principal uses in a minute; without keys, what all clients use together. 0 is no limit.
type Rates struct {
	// RequestsPerMinute counts requests that begin something (a call, a WebSocket, a client secret) and responses.
	RequestsPerMinute int
	// TokensPerMinute counts the tokens of responses, input and output. A response counts when it has ended, so it may go beyond
	// the limit. The next response waits until there are tokens again.
	TokensPerMinute int
}

// budget is what one principal may still use. It implements ratelimit.Limiter.
type budget struct {
	mu               sync.Mutex
	requests, tokens *call.TokenBucket // nil without limit
}

func newBudget(r Rates, now time.Time) *budget {
	b := &budget{}
	if r.RequestsPerMinute > 0 {
		b.requests = perMinute(r.RequestsPerMinute, now)
	}
	if r.TokensPerMinute > 0 {
		b.tokens = perMinute(r.TokensPerMinute, now)
	}
	return b
}

// perMinute returns a full bucket that allows limit uses a minute.
func perMinute(limit int, now time.Time) *call.TokenBucket {
	return call.NewTokenBucket(float64(limit), float64(limit)/60, now)
}

// each brings every limit up to now and calls do with its name and its bucket.
func (b *budget) each(do func(name string, of *call.TokenBucket)) {
	now := time.Now()
	if b.requests != nil {
		b.requests.Fill(now)
		do("requests", b.requests)
	}
	if b.tokens != nil {
		b.tokens.Fill(now)
		do("tokens", b.tokens)
	}
}

// Begin implements ratelimit.Limiter: it takes one request. If there is none, it returns how long to wait.
func (b *budget) Begin() (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.each(func(_ string, of *call.TokenBucket) { wait = max(wait, of.Wait(1)) })
	if wait > 0 {
		return wait, false
	}
	if b.requests != nil {
		b.requests.Take(1)
	}
	return 0, true
}

// Spend implements ratelimit.Limiter: it takes the tokens of a response and returns what is left of each limit.
func (b *budget) Spend(tokens int) []wire.RateLimit {
	b.mu.Lock()
	defer b.mu.Unlock()
	var left []wire.RateLimit
	b.each(func(name string, of *call.TokenBucket) {
		if name == "tokens" {
			of.Take(float64(tokens))
		}
		left = append(left, wire.RateLimit{
			Name: name, Limit: int(of.Size()), Remaining: max(0, int(of.Level())), ResetSeconds: of.Wait(of.Size()).Seconds(),
		})
	})
	return left
}

// budgets holds the budgets of all principals. There are at most as many principals as keys.
type budgets struct {
	rates Rates
	mu    sync.Mutex
	of    map[string]*budget
}

// find returns the principal's budget, or nil if nothing is limited.
func (b *budgets) find(principal string) *budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rates == (Rates{}) {
		return nil
	}
	if b.of[principal] == nil {
		if b.of == nil {
			b.of = map[string]*budget{}
		}
		b.of[principal] = newBudget(b.rates, time.Now())
	}
	return b.of[principal]
}

// charge takes one request from the principal's budget. It returns an error response if there is none left.
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

// limits returns the principal's budget for a session, or nil if nothing is limited.
func (b *budgets) limits(principal string) ratelimit.Limiter {
	if own := b.find(principal); own != nil {
		return own
	}
	return nil // a nil *budget in an interface would not be nil
}
