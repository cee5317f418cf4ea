// Package budget has the budgets of principals: how many requests and tokens each uses in a minute.
package budget

import (
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/ratelimit"
	"github.com/antiphon-rt/antiphon/internal/httpapi/fleet"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/limits"
	"github.com/antiphon-rt/antiphon/wire"
)

// budget is what one principal may still use. It implements ratelimit.Limiter.
type budget struct {
	mu               sync.Mutex
	requests, tokens *link.TokenBucket // nil without limit
	used             fleet.Use         // without calls
}

func newBudget(r limits.Rates, now time.Time) *budget {
	b := &budget{}
	if r.RequestsPerMinute > 0 {
		b.requests = PerMinute(r.RequestsPerMinute, now)
	}
	if r.TokensPerMinute > 0 {
		b.tokens = PerMinute(r.TokensPerMinute, now)
	}
	return b
}

// PerMinute returns a full bucket that allows limit uses a minute.
func PerMinute(limit int, now time.Time) *link.TokenBucket {
	return link.NewTokenBucket(float64(limit), float64(limit)/60, now)
}

// each brings every limit up to now and calls do with its name and its bucket.
func (b *budget) each(do func(name string, of *link.TokenBucket)) {
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
	b.each(func(_ string, of *link.TokenBucket) { wait = max(wait, of.Wait(1)) })
	if wait > 0 {
		return wait, false
	}
	if b.requests != nil {
		b.requests.Take(1)
	}
	b.used.Requests++
	return 0, true
}

// giveBack undoes Begin.
func (b *budget) giveBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.requests != nil {
		b.requests.Take(-1)
	}
	b.used.Requests -= min(b.used.Requests, 1) // the budget may have begun anew meanwhile
}

// short returns how long to wait until there is a request; 0 if there is one.
func (b *budget) short() (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.each(func(_ string, of *link.TokenBucket) { wait = max(wait, of.Wait(1)) })
	return wait
}

// unused reports whether nothing is taken from any limit.
func (b *budget) unused() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	return full(b.requests, now) && full(b.tokens, now)
}

// Spend implements ratelimit.Limiter: it takes the tokens of a response and returns what is left of each limit.
func (b *budget) Spend(tokens int) []wire.RateLimit {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used.Tokens += uint64(max(tokens, 0)) //nolint:gosec // not negative
	var left []wire.RateLimit
	b.each(func(name string, of *link.TokenBucket) {
		if name == "tokens" {
			of.Take(float64(tokens))
		}
		left = append(left, wire.RateLimit{
			Name: name, Limit: int(of.Size()), Remaining: max(0, int(of.Level())), ResetSeconds: of.Wait(of.Size()).Seconds(),
		})
	})
	return left
}

// secretShare is which part of its principal's budget a client secret may use, so that one client does not use it all.
const secretShare = 4

// part is the budget of a client secret. It implements ratelimit.Limiter.
type part struct{ own, whole *budget }

func (p part) Begin() (wait time.Duration, ok bool) {
	if wait = p.own.short(); wait > 0 {
		return wait, false
	}
	if wait, ok = p.whole.Begin(); ok {
		p.own.Begin()
	}
	return wait, ok
}

func (p part) Spend(tokens int) []wire.RateLimit {
	p.whole.Spend(tokens)
	return p.own.Spend(tokens)
}

// Payer is whose budget a request or a response uses. Secret names the client secret, and is empty for a key.
type Payer struct{ Principal, Secret string }

// Budgets holds the budgets of all principals and client secrets. There are at most as many principals as keys. It is safe for concurrent use.
type Budgets struct {
	mu      sync.Mutex
	rates   limits.Rates
	of      map[string]*budget
	secrets map[Payer]*budget // at most maxClients
}

// New returns the budgets of principals with these rates.
func New(rates limits.Rates) *Budgets { return &Budgets{rates: rates} }

// Reload changes the rates. The budgets begin anew if the rates are others.
func (b *Budgets) Reload(rates limits.Rates) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rates != rates {
		b.rates, b.of, b.secrets = rates, nil, nil
	}
}

// find returns the principal's budget, or nil if nothing is limited.
func (b *Budgets) find(principal string) *budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rates == (limits.Rates{}) {
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

// Charge takes one request from the payer's budget. If there is none left, ok is false and wait says how long to wait.
func (b *Budgets) Charge(of Payer) (wait time.Duration, ok bool) {
	own := b.Limiter(of)
	if own == nil {
		return 0, true
	}
	return own.Begin()
}

// GiveBack undoes Charge.
func (b *Budgets) GiveBack(of Payer) {
	switch own := b.Limiter(of).(type) {
	case *budget:
		own.giveBack()
	case part:
		own.own.giveBack()
		own.whole.giveBack()
	}
}

// Used returns what was taken from the budget of each principal, without what other servers have taken.
func (b *Budgets) Used() map[string]fleet.Use {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make(map[string]fleet.Use, len(b.of))
	for principal, own := range b.of {
		all[principal] = own.use()
	}
	return all
}

func (b *budget) use() fleet.Use {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.used
	b.each(func(name string, of *link.TokenBucket) {
		short := uint64(max(0, of.Size()-of.Level()))
		if name == "tokens" {
			u.TokensShort = short
		} else {
			u.RequestsShort = short
		}
	})
	return u
}

// Others takes from the principal's budget what other servers have used, at most a minute's worth of each.
func (b *Budgets) Others(principal string, requests, tokens uint64) {
	own := b.find(principal)
	if own == nil {
		return
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	own.each(func(name string, of *link.TokenBucket) {
		used := requests
		if name == "tokens" {
			used = tokens
		}
		of.Take(min(float64(used), of.Size()))
	})
}

// Limiter returns the payer's budget for a session, or nil if nothing is limited.
func (b *Budgets) Limiter(of Payer) ratelimit.Limiter {
	whole := b.find(of.Principal)
	switch {
	case whole == nil:
		return nil // a nil *budget in an interface would not be nil
	case of.Secret == "":
		return whole
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.secrets[of] == nil {
		if b.secrets == nil {
			b.secrets = map[Payer]*budget{}
		}
		makeRoom(b.secrets, (*budget).unused)
		b.secrets[of] = newBudget(limits.Rates{
			RequestsPerMinute: (b.rates.RequestsPerMinute + secretShare - 1) / secretShare, TokensPerMinute: (b.rates.TokensPerMinute + secretShare - 1) / secretShare,
		}, time.Now())
	}
	return part{b.secrets[of], whole}
}
