package session

import (
	"time"

	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/voice"
)

// estimate is the output (call.Output) of a client that plays audio itself: what is written goes to the client at once, and time
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
