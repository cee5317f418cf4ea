package ratelimit

// Budgets of requests and tokens.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// Each minute has a full budget of requests and tokens.
func TestPerMinute(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(0, 0)
	m := NewPerMinute(func() time.Time { return now })
	for range minuteRequests {
		_, ok := m.Begin()
		g.Expect(ok).To(gomega.BeTrue())
	}
	now = now.Add(20 * time.Second)
	left, ok := m.Begin()
	g.Expect(ok).To(gomega.BeFalse())
	g.Expect(left).To(gomega.Equal(40 * time.Second))
	now = now.Add(40 * time.Second)
	_, ok = m.Begin()
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(m.Spend(minuteTokens + 5)).To(gomega.Equal([]wire.RateLimit{
		{Name: "requests", Limit: minuteRequests, Remaining: minuteRequests - 1, ResetSeconds: 60},
		{Name: "tokens", Limit: minuteTokens, Remaining: 0, ResetSeconds: 60},
	}))
	_, ok = m.Begin()
	g.Expect(ok).To(gomega.BeFalse(), "the tokens are spent")
}

func TestAdmit(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(0, 0)
	m := NewPerMinute(func() time.Time { return now })
	g.Expect(Admit(m)).To(gomega.Succeed())
	m.Spend(minuteTokens)
	now = now.Add(57600 * time.Millisecond)
	err := Admit(m)
	var limit *Error
	g.Expect(err).To(gomega.BeAssignableToTypeOf(limit))
	g.Expect(err).To(gomega.MatchError("the rate limit is reached: try again in 3 s"), "rounded up")
}
