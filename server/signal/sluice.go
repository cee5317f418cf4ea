package signal

import (
	"fmt"
	"time"
)

const (
	// defaultEvents is how many events of a client pass in a second.
	defaultEvents = 500
	// burstSeconds is for how long a client that was quiet may send as fast as it likes: 2000 events as a rule.
	burstSeconds = 4
	// bytesPerEvent is what counts as one event: a larger one counts as several, so that bytes are bounded too.
	bytesPerEvent = 16 << 10
)

// sluice lets the events of one connection through at a rate. Those that come faster wait in the transport, which then slows
// the client down: none is lost. It is for one goroutine at a time.
type sluice struct {
	events int
	tell   func(code, message string) // the client, once a flood
	bucket bucket
	said   bool
}

func newSluice(events int, tell func(code, message string)) *sluice {
	whole := float64(events) * burstSeconds
	return &sluice{
		events: events, tell: tell,
		bucket: bucket{size: whole, second: float64(events), level: whole, at: time.Now()},
	}
}

// pass returns when an event of so many bytes may be taken, or stop is closed.
func (s *sluice) pass(size int, stop <-chan struct{}) {
	b := &s.bucket
	b.fill(time.Now())
	if b.level > b.size/2 {
		s.said = false
	}
	b.level -= 1 + float64(size)/bytesPerEvent
	if b.level >= 0 {
		return
	}
	if !s.said {
		s.said = true
		s.tell("rate_limit_exceeded", fmt.Sprintf(
			"events come faster than %d a second, one of each %d bytes: they wait now, and none is lost; send audio in larger pieces", s.events, bytesPerEvent))
	}
	late := time.NewTimer(b.wait(0))
	defer late.Stop()
	select {
	case <-late.C:
	case <-stop:
	}
}
