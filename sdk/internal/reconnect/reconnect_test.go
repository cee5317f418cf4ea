package reconnect

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
)

func TestThePauseDoubles(t *testing.T) {
	g := gomega.NewWithT(t)
	r := New()
	var pauses []time.Duration
	for range 7 {
		pauses = append(pauses, r.Pause()/time.Millisecond)
		r.Tries++
	}
	g.Expect(pauses).To(gomega.Equal([]time.Duration{250, 500, 1000, 2000, 4000, 5000, 5000}))
	r.Tries = 1000
	g.Expect(r.Pause()).To(gomega.Equal(longestPause))
}

func TestAStepIsTakenOnce(t *testing.T) {
	g := gomega.NewWithT(t)
	r := Lose(time.Second)
	g.Expect(r.Due).To(gomega.Equal(deadline.Never))
	r.Plan(Redial, 3*time.Second)
	g.Expect(r.Due).To(gomega.Equal(3 * time.Second))
	g.Expect(r.Take()).To(gomega.Equal(Redial))
	g.Expect(r.Due).To(gomega.Equal(deadline.Never))
}

// counted counts each 250 ms for a minute from the given time on, after a packet if one has ever come, with a packet in each count or in none, and returns after how long the packets
// count as stopped; deadline.Never if they do not.
func counted(a *Arrivals, from time.Duration, come bool) time.Duration {
	if a.received > 0 {
		a.Count(from, a.received+1)
	}
	for at := from + 250*time.Millisecond; at <= from+time.Minute; at += 250 * time.Millisecond {
		received := a.received
		if come {
			received++
		}
		if a.Count(at, received) == Stopped {
			return at - from
		}
	}
	return deadline.Never
}

func TestPacketsStop(t *testing.T) {
	g := gomega.NewWithT(t)
	var a Arrivals
	g.Expect(counted(&a, 0, false)).To(gomega.Equal(deadline.Never), "nothing has come yet")
	g.Expect(counted(&a, time.Minute, true)).To(gomega.Equal(deadline.Never))
	g.Expect(counted(&a, 2*time.Minute, false)).To(gomega.Equal(quietLimit))
	a.Carries()
	a.Restarted(3 * time.Minute)
	g.Expect(counted(&a, 3*time.Minute, false)).To(gomega.Equal(quietLimitAfterRestart))
	a.Carries()
	g.Expect(counted(&a, 3*time.Minute+restartMemory, false)).To(gomega.Equal(quietLimit))
}

// A machine that has slept does not know what has come.
func TestAPauseOfTheCountsIsNoSilence(t *testing.T) {
	g := gomega.NewWithT(t)
	var a Arrivals
	a.Count(0, 1)
	for i := range 10 {
		g.Expect(a.Count(time.Duration(i+1)*2*lateCount, 1)).To(gomega.Equal(Nothing))
	}
}

// The session asks once in a silence, and not again soon in the next one.
func TestThereIsDoubtOnceInAWhile(t *testing.T) {
	g := gomega.NewWithT(t)
	var a Arrivals
	now, received := time.Duration(0), uint64(1)
	doubts := func(counts int, come bool) (n int) {
		for range counts {
			now += 250 * time.Millisecond
			if come {
				received++
			}
			if a.Count(now, received) == Doubt {
				n++
			}
		}
		return n
	}
	g.Expect(doubts(4, true)).To(gomega.BeZero())
	g.Expect(doubts(1, false)).To(gomega.BeZero())
	g.Expect(doubts(1, false)).To(gomega.Equal(1), "after doubtLimit")
	g.Expect(doubts(3, false)).To(gomega.BeZero())
	g.Expect(doubts(4, true)).To(gomega.BeZero())
	g.Expect(doubts(4, false)).To(gomega.BeZero(), "it has asked 2 s before")
	g.Expect(doubts(20, true)).To(gomega.BeZero())
	g.Expect(doubts(4, false)).To(gomega.Equal(1))
}
