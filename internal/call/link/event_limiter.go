package link

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/internal/env"
)

// The event limiter: slows a client that floods the session with events.

const (
	// burstSeconds is for how long a client that was quiet may send as fast as it likes: by default 2000 events.
	burstSeconds = 4
	// BytesPerEvent is the size that counts as one event. A larger event counts as several, so that bytes are limited, too.
	BytesPerEvent = 16 << 10
)

// EventTab is what a client has sent and owes, over all of its connections: who reconnects has no new burst. The zero value is that of a quiet client. It is safe for
// concurrent use.
type EventTab struct {
	// Owes is the size of the answers to the events before, and of the work for them: they count as if the client had sent them.
	Owes atomic.Int64

	mu     sync.Mutex
	bucket *TokenBucket
}

// take takes n events of perSecond. It returns how long they wait, and whether the client was quiet before.
func (t *EventTab) take(n float64, perSecond int, now time.Time) (wait time.Duration, quiet bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if rate := float64(perSecond); t.bucket == nil || t.bucket.perSecond != rate {
		t.bucket = NewTokenBucket(rate*burstSeconds, rate, now)
	}
	t.bucket.Fill(now)
	quiet = t.bucket.Level() > t.bucket.Size()/2
	t.bucket.Take(n)
	return t.bucket.Wait(0), quiet
}

// EventLimiter slows a flood of events from one client. Events above the rate wait in the transport, which slows the client
// down: no event is lost. It is for one goroutine at a time.
type EventLimiter struct {
	env       env.Env
	perSecond int
	tab       *EventTab
	tell      func(code, message string) // sends an error event to the client
	told      bool                       // the client was told of this flood
	begun     bool                       // an event has come
}

// NewEventLimiter returns a limiter of perSecond events for one connection of a client. It calls tell once in each flood.
func NewEventLimiter(e env.Env, perSecond int, tab *EventTab, tell func(code, message string)) *EventLimiter {
	return &EventLimiter{env: e, perSecond: perSecond, tab: tab, tell: tell}
}

// Wait returns when the session may take an event of size bytes, or when stop is closed. alone says that the session should handle the event before the next one is
// read, because its answer may be large.
func (l *EventLimiter) Wait(size int, stop <-chan struct{}) (alone bool) {
	owed := int(l.tab.Owes.Swap(0))
	alone, l.begun = !l.begun || owed >= BytesPerEvent, true
	wait, quiet := l.tab.take(1+float64(size+owed)/BytesPerEvent, l.perSecond, l.env.Now())
	if quiet {
		l.told = false
	}
	if wait == 0 {
		return alone
	}
	if !l.told {
		l.told = true
		l.tell("rate_limit_exceeded", fmt.Sprintf(
			"events come faster than %d a second, one of each %d bytes: they wait now, and none is lost; send audio in larger pieces",
			l.perSecond, BytesPerEvent))
	}
	due := make(chan struct{})
	timer := l.env.AfterFunc(wait, func() { close(due) })
	defer timer.Stop()
	select {
	case <-due:
	case <-stop:
	}
	return alone
}
