package link

import "time"

// The token bucket, by which the server limits events, requests and tokens.

// TokenBucket limits a rate. It holds tokens up to its size and fills again at a constant rate. The caller passes the time. A
// TokenBucket is for one goroutine at a time.
type TokenBucket struct {
	size      float64
	perSecond float64   // tokens that come back in a second
	level     float64   // tokens at the time filled; below zero if the caller took more than the bucket had
	filled    time.Time // when level was computed
}

// NewTokenBucket returns a full bucket of size tokens, of which perSecond come back in a second.
func NewTokenBucket(size, perSecond float64, now time.Time) *TokenBucket {
	return &TokenBucket{size: size, perSecond: perSecond, level: size, filled: now}
}

// Fill adds the tokens that have come back up to now.
func (b *TokenBucket) Fill(now time.Time) {
	b.level = min(b.size, b.level+b.perSecond*now.Sub(b.filled).Seconds())
	b.filled = now
}

// Take removes n tokens, whether the bucket has them or not.
func (b *TokenBucket) Take(n float64) { b.level -= n }

// Wait returns how long it takes until the bucket has want tokens; 0 if it has them. It ignores a
// lack that is only a rounding error.
func (b *TokenBucket) Wait(want float64) time.Duration {
	if missing := want - b.level; missing > b.size*1e-9 {
		return time.Duration(missing / b.perSecond * float64(time.Second))
	}
	return 0
}

// Level returns how many tokens the bucket has; it may be negative.
func (b *TokenBucket) Level() float64 { return b.level }

// Size returns how many tokens the bucket holds at most.
func (b *TokenBucket) Size() float64 { return b.size }
