package link

import (
	"fmt"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/internal/env"
)

// The event limiter: slows a client that floods the session with events.

const (
	// burstSeconds is for how long a client that was quiet may send as fast as it likes: by default 2000 events.
	burstSeconds = 4
	// BytesPerEvent is the size that counts as one event. A larger event counts as several, so that bytes are limited, too.
	BytesPerEvent = 16 << 10
)

// EventLimiter slows a flood of events from one client. Events above the rate wait in the transport, which slows the client
// down: no event is lost. It is for one goroutine at a time.
type EventLimiter struct {
	env       env.Env
	perSecond int
	tell      func(code, message string) // sends an error event to the client
	bucket    *TokenBucket
	told      bool // the client was told of this flood
	begun     bool // an event has come
}

// NewEventLimiter returns a limiter of perSecond events. It calls tell once in each flood.
func NewEventLimiter(e env.Env, perSecond int, tell func(code, message string)) *EventLimiter {
	rate := float64(perSecond)
	return &EventLimiter{env: e, perSecond: perSecond, tell: tell, bucket: NewTokenBucket(rate*burstSeconds, rate, e.Now())}
}

// Wait returns when the session may take an event of size bytes, or when stop is closed. owes is the size of the answers to the events before, and of the work for them:
// they count as if the client had sent them. alone says that the session should handle the event before the next one is read, because its answer may be large.
func (l *EventLimiter) Wait(size int, owes *atomic.Int64, stop <-chan struct{}) (alone bool) {
	owed := int(owes.Swap(0))
	alone, l.begun = !l.begun || owed >= BytesPerEvent, true
	b := l.bucket
	b.Fill(l.env.Now())
	if b.Level() > b.Size()/2 {
		l.told = false
	}
	b.Take(1 + float64(size+owed)/BytesPerEvent)
	if b.Level() >= 0 {
		return alone
	}
	if !l.told {
		l.told = true
		l.tell("rate_limit_exceeded", fmt.Sprintf(
			"events come faster than %d a second, one of each %d bytes: they wait now, and none is lost; send audio in larger pieces",
			l.perSecond, BytesPerEvent))
	}
	due := make(chan struct{})
	timer := l.env.AfterFunc(b.Wait(0), func() { close(due) })
	defer timer.Stop()
	select {
	case <-due:
	case <-stop:
	}
	return alone
}
