package speaking

// The output of a client that plays by itself: an estimate of what it has played.

import (
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// clientPaced is the link.Output of a client that plays audio by itself: it sends written audio at once, and estimates
// by the clock how much of it the client has played. It belongs to the session's goroutine.
type clientPaced struct {
	emit    func(pcm []int16)                  // sends audio to the client
	drained func(gen uint64, in time.Duration) // reports Drained after in, unless a later call replaces it
	now     func() time.Time

	gen     uint64
	written voice.Samples
	played  voice.Samples // how much was played up to since
	since   time.Time
	ahead   voice.Samples // how much audio of earlier responses is still to be played
	running bool
	ended   bool
	live    bool
	backlog []int16 // audio that was written while held
}

// Begin implements link.Output.
func (o *clientPaced) Begin(gen uint64) {
	next := clientPaced{emit: o.emit, drained: o.drained, now: o.now, gen: gen, since: o.now(), running: true, live: true}
	if o.live {
		o.settle()
		next.ahead = o.ahead + o.written - o.played
	}
	*o = next
}

// Write implements link.Output.
func (o *clientPaced) Write(pcm []int16) {
	if !o.live {
		return
	}
	if !o.running {
		o.backlog = append(o.backlog, pcm...)
		return
	}
	o.settle()
	o.written += voice.Samples(len(pcm))
	o.emit(pcm)
	o.schedule()
}

// End implements link.Output.
func (o *clientPaced) End() {
	o.ended = o.live
	o.schedule()
}

// Hold implements link.Output.
func (o *clientPaced) Hold() voice.Samples {
	o.settle()
	o.running = false
	return o.played
}

// Resume implements link.Output. It continues at the client's position, because the client has the audio before it already.
func (o *clientPaced) Resume(gen uint64, _ voice.Samples) {
	if !o.live {
		return
	}
	o.gen, o.running, o.since = gen, true, o.now()
	if backlog := o.backlog; len(backlog) > 0 {
		o.backlog = nil
		o.Write(backlog)
	}
	o.schedule()
}

// Drop implements link.Output.
func (o *clientPaced) Drop() voice.Samples {
	o.settle()
	o.live, o.running, o.backlog = false, false, nil
	return o.played
}

// Soften implements link.Output. It does nothing: the client has the audio.
func (o *clientPaced) Soften(float32) {}

// Sent implements link.Output.
func (o *clientPaced) Sent() voice.Samples {
	o.settle()
	return o.played
}

// settle brings played up to the present.
func (o *clientPaced) settle() {
	if !o.running {
		return
	}
	now := o.now()
	passed := voice.SamplesIn(now.Sub(o.since).Milliseconds(), room.OutputRate)
	before := min(o.ahead, passed)
	o.ahead -= before
	o.played = min(o.written, o.played+passed-before)
	o.since = now
}

// schedule reports the end of the segment when the client should have played it.
func (o *clientPaced) schedule() {
	if o.live && o.ended && o.running {
		o.settle()
		left := time.Duration((o.ahead + o.written - o.played).Milliseconds(room.OutputRate)) * time.Millisecond
		o.drained(o.gen, left)
	}
}
