package phone

import (
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/outgoing"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// The output of a telephone call: what the far side gets next, and how far it has played.

const (
	// markEvery is how many frames lie between two marks.
	markEvery = 10
	// maxMarks bounds the marks that have not come back.
	maxMarks = 64
	// maxLag bounds what marks say about the path: a mark that comes back later than that says nothing.
	maxLag = 2 * time.Second
)

// Output is the link.Output of a telephone. It is safe for concurrent use.
type Output struct {
	mu    sync.Mutex
	audio outgoing.Audio
	can   struct{ pause, flush, mark bool }
	most  int           // Traits.Ahead
	wake  chan struct{} // has a token when the pacer has to obey

	ahead   int           // frames that the far side has and has not played, by the clock
	floor   voice.Samples // the far side has played the response up to here at least
	held    bool
	from    voice.Samples  // how far it was when Hold came: from there on the far side has the audio, or has played it
	stopped *voice.Samples // how far the far side has played a response that is held or was dropped; nil else
	want    commands
	over    uint64 // the segment whose last frame the far side still plays; 0 for none
	tail    bool   // the frame before was voiced: the resampler has the end of it

	marks  []mark
	marked uint64 // the number of the last mark
	frames int    // since the last mark
	lag    time.Duration
}

// commands is what the pacer and the far side's queue have to do.
type commands struct {
	flush, pause bool
	restart      bool // audio that is on its way through the resampler must not be heard
}

// mark waits for its return. due is when the far side has played the audio before it, by the clock.
type mark struct {
	n   uint64
	due time.Time
}

// Begin implements link.Output. What the far side has of the response before is played, unless that was held or dropped.
func (o *Output) Begin(gen uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held {
		o.flush()
	}
	o.audio.Begin(gen)
	o.floor, o.held, o.stopped, o.over = 0, false, nil, 0
}

// Write implements link.Output.
func (o *Output) Write(pcm []int16) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.audio.Write(pcm)
}

// End implements link.Output.
func (o *Output) End() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.audio.End()
}

// Soften: what the far side has already is played at the gain before.
func (o *Output) Soften(gain float32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.audio.Soften(gain)
}

// Hold implements link.Output. A far side with a queue stops; any other one plays the frames that it has.
func (o *Output) Hold() voice.Samples {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.audio.Live() && !o.held {
		at := o.audio.Sent()
		o.from = o.heard()
		if o.can.pause {
			at = o.from
			o.marks = nil // a mark that comes back after the pause says nothing about the path
			o.want.pause = true
			o.obeyed()
		}
		o.held, o.stopped, o.over = true, &at, 0
		o.audio.Hold()
	}
	return o.played()
}

// noted is how long before Hold the machines may have noted where the response stops. Meanwhile the far side has played on, and a mark may have
// corrected what is known of it.
const noted = outgoing.Rate / 2

// Resume implements link.Output. The far side continues with what it has, if that is where the response continues.
func (o *Output) Resume(gen uint64, from voice.Samples) {
	o.mu.Lock()
	defer o.mu.Unlock()
	sent := o.audio.Sent()
	switch {
	case o.held && from > o.from-noted && from <= sent:
		from = sent
		o.floor = *o.stopped
	case !o.held && from > o.heard()-noted && from <= sent: // it has gone on softly
		from = sent
	default:
		o.flush()
		o.floor = from
	}
	if _, ok := o.audio.Resume(gen, from); ok {
		o.held, o.stopped, o.over = false, nil, 0
		o.want.pause = false
		o.obeyed()
	}
}

// Drop implements link.Output: the far side drops what it has, too.
func (o *Output) Drop() voice.Samples {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := o.played()
	if o.audio.Live() {
		o.flush()
		o.audio.Drop()
	}
	o.held, o.stopped, o.over = false, &at, 0
	return at
}

// Sent implements link.Output: how much of the response the far side has played. Handler.Sent reports what was sent.
func (o *Output) Sent() voice.Samples {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.played()
}

// FarEndPosition implements link.FarEndReader: what the far side plays now, without the time of the path.
func (o *Output) FarEndPosition() voice.Samples {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.audio.FarEndPosition() - frames(o.ahead)
}

// ReadFarEnd implements link.FarEndReader.
func (o *Output) ReadFarEnd(at voice.Samples, dst []int16) (ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.audio.ReadFarEnd(at, dst)
}

func frames(n int) voice.Samples { return voice.Samples(n * outgoing.FrameSize) }

// played returns how far the far side has played the response. The caller holds mu.
func (o *Output) played() voice.Samples {
	if o.stopped != nil {
		return *o.stopped
	}
	return o.heard()
}

// heard returns how far the far side is in a response that it plays. The caller holds mu.
func (o *Output) heard() voice.Samples {
	behind := frames(o.ahead) + voice.SamplesIn(o.lag.Milliseconds(), outgoing.Rate)
	return max(o.floor, o.audio.Sent()-behind)
}

// flush has the far side drop what it has, and continue. The caller holds mu.
func (o *Output) flush() {
	o.want.pause, o.want.restart = false, true
	if o.can.flush {
		o.want.flush = true
		o.ahead, o.marks, o.tail = 0, nil, false
	}
	o.obeyed()
}

// obeyed wakes the pacer.
func (o *Output) obeyed() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// passed notes that the time of n frames has passed. The caller holds mu.
func (o *Output) passed(n int) {
	if o.most == 0 {
		return
	}
	if o.want.pause {
		o.audio.Skip(n)
		return
	}
	played := min(o.ahead, n)
	o.ahead -= played
	o.audio.Skip(n - played)
}

// skip notes that the time of n frames has passed in which nothing was sent.
func (o *Output) skip(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.most == 0 {
		o.audio.Skip(n)
	}
	o.passed(n)
}

// sending is a frame that the pacer sends.
type sending struct {
	outgoing.Frame
	none bool   // there is nothing to send
	over uint64 // the far side has played this segment to its end; 0 for none
	mark uint64 // the mark that follows the frame; 0 for none
}

// next copies the next frame's audio into pcm. first is true for the first frame of a tick, which comes every 20 ms.
func (o *Output) next(pcm *[outgoing.FrameSize]int16, first bool) (s sending) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if first {
		o.passed(1)
	}
	switch {
	case o.most == 0 && first:
		s.Frame = o.audio.Next(pcm)
	case o.most == 0 || o.ahead >= o.most || o.want.pause:
		s.none = true
	default:
		s.Frame = o.audio.Take(pcm)
		s.none = !s.Voiced && !(o.tail && !s.Cut)
		if !s.none {
			o.ahead++
		}
	}
	if s.Drained {
		o.over, s.Drained = s.Gen, false
	}
	if o.over != 0 && o.ahead == 0 {
		s.over, o.over = o.over, 0
	}
	if !s.none {
		o.tail = s.Voiced
		s.mark = o.markAfter(s.Voiced)
	}
	return s
}

// markAfter returns the number of the mark that follows this frame; 0 for none. The caller holds mu.
func (o *Output) markAfter(voiced bool) uint64 {
	if !o.can.mark || !voiced {
		return 0
	}
	if o.frames++; o.frames < markEvery {
		return 0
	}
	o.frames = 0
	o.marked++
	if len(o.marks) == maxMarks {
		o.marks = o.marks[1:]
	}
	o.marks = append(o.marks, mark{o.marked, time.Now().Add(time.Duration(o.ahead) * outgoing.FrameTime)})
	return o.marked
}

// returned notes that mark n has come back. A mark that a flush has brought back is not known any more.
func (o *Output) returned(n uint64) {
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, m := range o.marks {
		if m.n != n {
			continue
		}
		o.marks = o.marks[i+1:]
		if lag := now.Sub(m.due); !o.want.pause && lag < maxLag {
			o.lag = max(0, lag)
		}
		return
	}
}

// path returns how long audio takes to the far side and back, as far as marks say.
func (o *Output) path() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lag
}

// commands returns what the pacer has to do.
func (o *Output) commands() commands {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.want
	o.want.flush, o.want.restart = false, false
	return c
}

var (
	_ link.Output       = (*Output)(nil)
	_ link.FarEndReader = (*Output)(nil)
)
