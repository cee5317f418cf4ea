package session

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/voice"
)

// Link is a session's way to its client. The session closes it, once. One that measures the way has RoundTrip() time.Duration
// too, 0 while it does not know.
type Link interface {
	// Send queues one event, a JSON text; the session does not use it afterwards. It does not block. sent, when not
	// nil, is called by the link's goroutine once the event is on its way. An error other than rtc.ErrTooLarge means that
	// the client is lost to us: the session ends.
	Send(text []byte, sent func()) error
	// Speaker is where the agent's audio is paced to, or nil when the client paces it (WebSocket).
	Speaker() Speaker
	// Close ends the transport and joins its goroutines.
	Close() error
}

// Explaining is a Link that can tell its client why it is closed.
type Explaining interface {
	Link
	// Because is called once, before Close.
	Because(why conn.Reason)
}

// Speaker paces one reply at a time to the ear: see rtc.Speaker, which is one. Positions are samples at 24 kHz since Begin. One
// whose packets have timestamps that a client can name is a Timeline too.
type Speaker interface {
	Begin(gen uint64)
	Write(pcm []int16)
	End()
	Hold() (sent voice.Samples)
	Resume(gen uint64, from voice.Samples)
	Drop() (sent voice.Samples)
	Sent() voice.Samples
}

// estimate is the Speaker of a client that plays audio itself: what is written goes to the client at once, and time
// tells how much of it was probably heard. It belongs to the session's goroutine.
type estimate struct {
	emit    func(pcm []int16)                  // sends audio to the client
	drained func(gen uint64, in time.Duration) // reports Drained after in, unless a later call replaces it
	now     func() time.Time
	gen     uint64
	written voice.Samples
	played  voice.Samples // up to since
	since   time.Time
	ahead   voice.Samples // of replies before it, still to be played
	running bool
	ended   bool
	live    bool
	backlog []int16 // written while held
}

func (e *estimate) Begin(gen uint64) {
	next := estimate{emit: e.emit, drained: e.drained, now: e.now, gen: gen, since: e.now(), running: true, live: true}
	if e.live {
		e.settle()
		next.ahead = e.ahead + e.written - e.played
	}
	*e = next
}

func (e *estimate) Write(pcm []int16) {
	if !e.live {
		return
	}
	if !e.running {
		e.backlog = append(e.backlog, pcm...)
		return
	}
	e.settle()
	e.written += voice.Samples(len(pcm))
	e.emit(pcm)
	e.schedule()
}

func (e *estimate) End() {
	e.ended = e.live
	e.schedule()
}

func (e *estimate) Hold() voice.Samples {
	e.settle()
	e.running = false
	return e.played
}

// Resume cannot take back what the client has: it goes on where the client is.
func (e *estimate) Resume(gen uint64, _ voice.Samples) {
	if !e.live {
		return
	}
	e.gen, e.running, e.since = gen, true, e.now()
	if backlog := e.backlog; len(backlog) > 0 {
		e.backlog = nil
		e.Write(backlog)
	}
	e.schedule()
}

func (e *estimate) Drop() voice.Samples {
	e.settle()
	e.live, e.running, e.backlog = false, false, nil
	return e.played
}

func (e *estimate) Sent() voice.Samples {
	e.settle()
	return e.played
}

// settle brings played up to now.
func (e *estimate) settle() {
	if !e.running {
		return
	}
	now := e.now()
	passed := voice.SamplesIn(now.Sub(e.since).Milliseconds(), format.OutputRate)
	before := min(e.ahead, passed)
	e.ahead -= before
	e.played = min(e.written, e.played+passed-before)
	e.since = now
}

func (e *estimate) schedule() {
	if e.live && e.ended && e.running {
		e.settle()
		left := time.Duration((e.ahead + e.written - e.played).Milliseconds(format.OutputRate)) * time.Millisecond
		e.drained(e.gen, left)
	}
}
