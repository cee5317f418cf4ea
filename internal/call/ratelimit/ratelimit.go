package ratelimit

// The Limiter that a session takes its responses from, its error, and the limiter of a session without other limits.

import (
	"fmt"
	"math"
	"time"

	"github.com/antiphon-rt/antiphon/wire"
)

// Limiter enforces a budget of requests and tokens. Sessions share it, so its methods are safe for concurrent use by several goroutines; they do not block.
type Limiter interface {
	// Begin takes one response from the budget. When nothing is left it takes nothing, ok is false, and wait is the time the time until the budget has room again.
	Begin() (wait time.Duration, ok bool)
	// Spend takes the tokens of a response that has ended. It returns the rest of the budget for rate_limits.updated, nil where nothing is limited.
	Spend(tokens int) []wire.RateLimit
}

// Code is the error code of a response for which the budget had no room.
const Code = "rate_limit_exceeded"

// Error fails a response that the budget has no room for.
type Error struct {
	Wait time.Duration // the time until the budget has room again
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("the rate limit is reached: try again in %.0f s", math.Ceil(e.Wait.Seconds()))
}

// Admit takes one response from l's budget. Its error is an *Error.
func Admit(l Limiter) error {
	if wait, ok := l.Begin(); !ok {
		return &Error{wait}
	}
	return nil
}

// The budget of a session that has no other Limiter, for each minute. It is larger than any conversation needs.
const (
	minuteRequests = 1000
	minuteTokens   = 4_000_000
)

// PerMinute is the Limiter of one session. It belongs to the session's goroutine.
type PerMinute struct {
	now              func() time.Time
	until            time.Time // the end of the minute that is counted
	requests, tokens int       // taken in it
}

// NewPerMinute returns a limiter that reads the time from now.
func NewPerMinute(now func() time.Time) *PerMinute { return &PerMinute{now: now} }

func (m *PerMinute) Begin() (wait time.Duration, ok bool) {
	left := m.left()
	if m.requests >= minuteRequests || m.tokens >= minuteTokens {
		return left, false
	}
	m.requests++
	return 0, true
}

func (m *PerMinute) Spend(tokens int) []wire.RateLimit {
	reset := m.left().Seconds()
	m.tokens += tokens
	return []wire.RateLimit{
		{Name: "requests", Limit: minuteRequests, Remaining: minuteRequests - m.requests, ResetSeconds: reset},
		{Name: "tokens", Limit: minuteTokens, Remaining: max(0, minuteTokens-m.tokens), ResetSeconds: reset},
	}
}

// left returns the rest of the present minute. A new minute begins when the last one is over.
func (m *PerMinute) left() time.Duration {
	now := m.now()
	if !now.Before(m.until) {
		*m = PerMinute{now: m.now, until: now.Add(time.Minute)}
	}
	return m.until.Sub(now)
}
