// Package reconnect finds out when a connection is lost, and says when which step to bring it back is due. It takes no step itself. One
// goroutine at a time may use it.
package reconnect

// Finds out that no packet of the server arrives any more, from the numbers that the peer counts.

import "time"

const (
	// doubtLimit is how long no packet may come before the session asks the server whether it still has the call. The question costs the
	// server nearly nothing and changes nothing, but it is asked at most once in doubtPause.
	doubtLimit, doubtPause = 500 * time.Millisecond, 5 * time.Second
	// quietLimit is how long no packet may come before the session asks the server for a restart. A live server answers, and then the
	// restart costs no more than the gap did. The server waits for up to 1.4 s of missing audio (decision 042), so a shorter gap is none.
	quietLimit = 1500 * time.Millisecond
	// quietLimitAfterRestart applies for restartMemory after a restart: packets of a bad network, or of a server that is overloaded, may
	// stop again and again, and each restart is work for the server.
	quietLimitAfterRestart, restartMemory = 4 * time.Second, time.Minute
	// lateCount is how much time may be between two counts. Peers count each 250 ms, those in a hidden page each second. If more has passed,
	// the machine has slept or the page was suspended, and nobody knows what has come. It is below quietLimit, so that one count alone
	// never shows silence.
	lateCount = 1250 * time.Millisecond
)

// Finding is what a count of packets shows.
type Finding uint8

// The findings.
const (
	Nothing Finding = iota
	Come            // new packets have come
	Doubt           // none has come for so long that the session asks whether the server still has the call
	Stopped         // none has come for too long
)

// Arrivals knows for how long no packet has come. The zero value is that of a connection on which nothing has come yet.
type Arrivals struct {
	received  uint64        // the packets of the last count
	countedAt time.Duration // when they were counted
	quiet     time.Duration // how long no packet has come, as far as the counts show. It is never more than the true time.
	doubts    time.Duration // until when there is no further Doubt
	restarted bool
	restartAt time.Duration // when the last restart succeeded, if restarted is set
}

// Count takes the number of packets that have come until now.
func (a *Arrivals) Count(now time.Duration, received uint64) Finding {
	passed := now - a.countedAt
	a.countedAt = now
	if received != a.received {
		a.received, a.quiet = received, 0
		return Come
	}
	if passed > lateCount {
		a.quiet = 0
	} else {
		a.quiet += passed
	}
	limit := quietLimit
	if a.restarted && now-a.restartAt < restartMemory {
		limit = quietLimitAfterRestart
	}
	switch {
	case received == 0:
	case a.quiet >= limit:
		return Stopped
	case a.quiet >= doubtLimit && now >= a.doubts:
		a.doubts = now + doubtPause
		return Doubt
	}
	return Nothing
}

// Quiet reports whether no packet has come since the count before the newest one.
func (a *Arrivals) Quiet() bool { return a.quiet > 0 }

// Carries notes that the connection carries packets again.
func (a *Arrivals) Carries() { a.quiet = 0 }

// Restarted notes that a restart has succeeded.
func (a *Arrivals) Restarted(now time.Duration) { a.restarted, a.restartAt = true, now }
