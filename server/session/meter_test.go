package session

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

func TestMeter(t *testing.T) {
	story(t, "a minute has its requests and tokens, and the next one has them again", func(t *testing.T) {
		g := gomega.NewWithT(t)
		m := newMeter()
		for range minuteRequests {
			_, ok := m.Begin()
			g.Expect(ok).To(gomega.BeTrue())
		}
		wait(20 * time.Second)
		left, ok := m.Begin()
		g.Expect(ok).To(gomega.BeFalse())
		g.Expect(left).To(gomega.Equal(40 * time.Second))
		wait(40 * time.Second)
		_, ok = m.Begin()
		g.Expect(ok).To(gomega.BeTrue())
		g.Expect(m.Spend(minuteTokens + 5)).To(gomega.Equal([]wire.RateLimit{
			{Name: "requests", Limit: minuteRequests, Remaining: minuteRequests - 1, ResetSeconds: 60},
			{Name: "tokens", Limit: minuteTokens, Remaining: 0, ResetSeconds: 60},
		}))
		_, ok = m.Begin()
		g.Expect(ok).To(gomega.BeFalse(), "the tokens are spent")
	})
}
