package budget

// The budget of each principal: requests and tokens a minute.

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/limits"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		all := New(limits.Rates{RequestsPerMinute: 2, TokensPerMinute: 600})
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
		g.Expect(ok).To(gomega.BeTrue(), "the wait that Begin returned is enough")

		<-time.After(time.Hour)
		g.Expect(b.Spend(900)).To(gomega.Equal([]wire.RateLimit{
			{Name: "requests", Limit: 2, Remaining: 2},
			{Name: "tokens", Limit: 600, ResetSeconds: 90},
		}), "a response may go beyond the limit")
		wait, ok = began()
		g.Expect(ok).To(gomega.BeFalse())
		g.Expect(wait).To(gomega.BeNumerically("~", 30*time.Second, time.Second), "until there are tokens again")
		<-time.After(45 * time.Second)
		g.Expect(b.Spend(50)).To(gomega.Equal([]wire.RateLimit{
			{Name: "requests", Limit: 2, Remaining: 2},
			{Name: "tokens", Limit: 600, Remaining: 100, ResetSeconds: 50},
		}))

		none := New(limits.Rates{})
		g.Expect(none.Limiter(Payer{Principal: "desk"})).To(gomega.BeNil())
		_, ok = none.Charge(Payer{Principal: "desk"})
		g.Expect(ok).To(gomega.BeTrue())
	})
}

// A client secret cannot use up the budget of its principal, and what it uses counts for the principal.
func TestASecretHasAPartOfTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		all := New(limits.Rates{RequestsPerMinute: 10, TokensPerMinute: 400})
		of := Payer{"desk", "a"}
		for range 3 {
			_, ok := all.Charge(of)
			g.Expect(ok).To(gomega.BeTrue())
		}
		wait, ok := all.Charge(of)
		g.Expect(ok).To(gomega.BeFalse())
		g.Expect(wait).To(gomega.Equal(20 * time.Second))
		g.Expect(all.Limiter(Payer{"desk", "b"}).Spend(150)).To(gomega.Equal([]wire.RateLimit{
			{Name: "requests", Limit: 3, Remaining: 3}, {Name: "tokens", Limit: 100, ResetSeconds: 90},
		}))
		_, ok = all.Charge(Payer{"desk", "b"})
		g.Expect(ok).To(gomega.BeFalse(), "it has used its tokens")
		g.Expect(all.Limiter(Payer{Principal: "desk"}).Spend(0)).To(gomega.Equal([]wire.RateLimit{
			{Name: "requests", Limit: 10, Remaining: 7, ResetSeconds: 18}, {Name: "tokens", Limit: 400, Remaining: 250, ResetSeconds: 22.5},
		}))
		for range 7 {
			_, ok = all.Charge(Payer{Principal: "desk"})
			g.Expect(ok).To(gomega.BeTrue())
		}
		_, ok = all.Charge(Payer{"desk", "c"})
		g.Expect(ok).To(gomega.BeFalse(), "the principal has no more")
		g.Expect(all.Used()).To(gomega.HaveLen(1))
	})
}
