package session

import (
	"time"

	"github.com/antiphon-rt/antiphon/wire"
)

// What a session may have in a minute where nobody gives it a budget: more than any conversation needs.
const (
	minuteRequests = 1000
	minuteTokens   = 4_000_000
)

// meter is a session's own budget. It belongs to the session's goroutine.
type meter struct {
	until            time.Time // the end of the minute that is counted
	requests, tokens int       // taken in it
}

func newMeter() *meter { return &meter{} }

// Begin implements Limits.
func (m *meter) Begin() (wait time.Duration, ok bool) {
	left := m.left()
	if m.requests >= minuteRequests || m.tokens >= minuteTokens {
		return left, false
	}
	m.requests++
	return 0, true
}

// Spend implements Limits.
func (m *meter) Spend(tokens int) []wire.RateLimit {
	reset := m.left().Seconds()
	m.tokens += tokens
	return []wire.RateLimit{
		{Name: "requests", Limit: minuteRequests, Remaining: minuteRequests - m.requests, ResetSeconds: reset},
		{Name: "tokens", Limit: minuteTokens, Remaining: max(0, minuteTokens-m.tokens), ResetSeconds: reset},
	}
}

// left is what is left of the minute; a new one begins when it is over.
func (m *meter) left() time.Duration {
	now := time.Now()
	if !now.Before(m.until) {
		*m = meter{until: now.Add(time.Minute)}
	}
	return m.until.Sub(now)
}
