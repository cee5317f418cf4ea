package signal

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		all := budgets{rates: Rates{RequestsPerMinute: 2, TokensPerMinute: 600}}
		b := all.find("desk")
		g.Expect(all.find("desk")).To(gomega.BeIdenticalTo(b))
		g.Expect(all.find("kitchen")).NotTo(gomega.BeIdenticalTo(b))

		began := func() (time.Duration, bool) { return b.Begin() }
		_, ok := began()
		g.Expect(ok).To(gomega.BeTrue())
		_, ok = began()
		g.Expect(ok).To(gomega.BeTrue())
		wait, ok := began()
		g.Expect(ok).To(gomega.BeFalse())
		g.Expect(wait).To(gomega.Equal(30 * time.Second))
		<-time.After(wait)
		_, ok = began()
		g.Expect(ok).To(gomega.BeTrue(), "what was said to be enough is")

		<-time.After(time.Hour)
		g.Expect(b.Spend(900)).To(gomega.Equal([]wire.RateLimit{
			{Name: "requests", Limit: 2, Remaining: 2},
			{Name: "tokens", Limit: 600, ResetSeconds: 90},
		}), "a response may go beyond the limit")
		wait, ok = began()
		g.Expect(ok).To(gomega.BeFalse())
		g.Expect(wait).To(gomega.BeNumerically("~", 30*time.Second, time.Second), "until that is made up for")
		<-time.After(45 * time.Second)
		g.Expect(b.Spend(50)).To(gomega.Equal([]wire.RateLimit{
			{Name: "requests", Limit: 2, Remaining: 2},
			{Name: "tokens", Limit: 600, Remaining: 100, ResetSeconds: 50},
		}))

		none := budgets{}
		g.Expect(none.limits("desk")).To(gomega.BeNil())
		g.Expect(none.charge("desk")).To(gomega.BeNil())
	})
}

func TestSluice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		var told []string
		s := newSluice(100, func(code, _ string) { told = append(told, code) })
		took := func(events, size int) time.Duration {
			began := time.Now()
			for range events {
				s.pass(size, nil)
			}
			return time.Since(began)
		}
		g.Expect(took(400, 0)).To(gomega.BeZero(), "four seconds' worth at once")
		g.Expect(told).To(gomega.BeEmpty())
		g.Expect(took(300, 0)).To(gomega.BeNumerically("~", 3*time.Second, 10*time.Millisecond))
		g.Expect(told).To(gomega.Equal([]string{"rate_limit_exceeded"}), "once a flood")

		<-time.After(4 * time.Second)
		g.Expect(took(1, 100*bytesPerEvent)).To(gomega.BeZero(), "a large event counts as several")
		g.Expect(took(300, 0)).To(gomega.BeNumerically("~", 20*time.Millisecond, 20*time.Millisecond))
		g.Expect(told).To(gomega.HaveLen(2), "the next flood")

		stop := make(chan struct{})
		close(stop)
		began := time.Now()
		s.pass(1000*bytesPerEvent, stop)
		g.Expect(time.Since(began)).To(gomega.BeZero(), "a connection that ends waits for nothing")
	})
}
