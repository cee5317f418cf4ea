package link

// The event limiter slows a flood and loses no event.

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/env"
)

func TestEventLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		var told []string
		var tab EventTab
		l := NewEventLimiter(env.System(), 100, &tab, func(code, _ string) { told = append(told, code) })
		took := func(events, size int) time.Duration {
			began := time.Now()
			for range events {
				l.Wait(size, nil)
			}
			return time.Since(began)
		}
		g.Expect(took(400, 0)).To(gomega.BeZero(), "four seconds' worth at once")
		g.Expect(told).To(gomega.BeEmpty())
		g.Expect(took(300, 0)).To(gomega.BeNumerically("~", 3*time.Second, 10*time.Millisecond))
		g.Expect(told).To(gomega.Equal([]string{"rate_limit_exceeded"}), "once a flood")

		<-time.After(4 * time.Second)
		g.Expect(took(1, 100*BytesPerEvent)).To(gomega.BeZero(), "a large event counts as several")
		g.Expect(took(300, 0)).To(gomega.BeNumerically("~", 20*time.Millisecond, 20*time.Millisecond))
		g.Expect(told).To(gomega.HaveLen(2), "the next flood")

		stop := make(chan struct{})
		close(stop)
		began := time.Now()
		l.Wait(1000*BytesPerEvent, stop)
		g.Expect(time.Since(began)).To(gomega.BeZero(), "a connection that ends waits for nothing")
	})
}

// TestAnswersCountAsEvents checks that a client whose small events have large answers waits as if it had sent the answers.
func TestAnswersCountAsEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		var tab EventTab
		l := NewEventLimiter(env.System(), 100, &tab, func(string, string) {})
		began := time.Now()
		g.Expect(l.Wait(0, nil)).To(gomega.BeTrue(), "how large the answers are is not known yet")
		g.Expect(l.Wait(0, nil)).To(gomega.BeFalse())
		tab.Owes.Add(BytesPerEvent)
		g.Expect(l.Wait(0, nil)).To(gomega.BeTrue(), "the next answer may be as large")
		g.Expect(time.Since(began)).To(gomega.BeZero())
		tab.Owes.Add(596 * BytesPerEvent)
		g.Expect(l.Wait(0, nil)).To(gomega.BeTrue())
		g.Expect(time.Since(began)).To(gomega.BeNumerically("~", 2*time.Second, 10*time.Millisecond))
		g.Expect(l.Wait(0, nil)).To(gomega.BeFalse(), "an answer counts once")
	})
}

// TestANewConnectionHasNoNewBurst checks that a client that connects again sends as slowly as it would have over its former connection.
func TestANewConnectionHasNoNewBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		var tab EventTab
		began := time.Now()
		for range 5 {
			l := NewEventLimiter(env.System(), 100, &tab, func(string, string) {})
			for range 200 {
				l.Wait(0, nil)
			}
		}
		g.Expect(time.Since(began)).To(gomega.BeNumerically("~", 6*time.Second, 10*time.Millisecond))
	})
}
