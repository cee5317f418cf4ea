package listenbench

// What the detector and the recogniser hear of a turn, and when.

import (
	"context"
	"syscall"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

const (
	frame    = 10 * time.Millisecond
	onset    = 3                       // frames of speech that begin a turn, as in a session
	preRoll  = 300 * time.Millisecond  // audio before its onset that belongs to a turn
	feed     = 20 * time.Millisecond   // audio that the recogniser gets at a time
	listened = 1700 * time.Millisecond // silence after which the recogniser has nothing new to say
)

// text is a text of the recogniser.
type text struct {
	at      time.Duration // when it came, in the turn
	text    string
	through time.Duration // of how much of the audio that the recogniser got it is the text
}

// heard is what was heard of a turn.
type heard struct {
	turn
	speech []bool // the detector's judgement of each frame
	opened int    // the frame from which on the turn's audio counts
	texts  []text
}

// hear lets the detector and the recogniser hear a turn. The recogniser's texts come as late as the processor time of its work makes them.
func hear(ctx context.Context, e backend.Engine, t turn) (h heard, err error) {
	h.turn = t
	d := voice.NewDetector(voice.DetectorConfig{})
	run := 0
	h.opened = -1
	for at := 0; at+voice.FrameSize <= len(t.pcm); at += voice.FrameSize {
		speech := d.Frame(t.pcm[at : at+voice.FrameSize]).Speech
		h.speech = append(h.speech, speech)
		if run++; !speech {
			run = 0
		}
		if run == onset && h.opened < 0 {
			h.opened = max(0, len(h.speech)-onset-int(preRoll/frame))
		}
	}
	if h.opened < 0 {
		return h, nil
	}
	s, err := e.Open(ctx, backend.Config{Live: true})
	if err != nil {
		return h, err
	}
	defer func() { _ = s.Close() }() // nothing is lost
	const step = int(feed * human.Rate / time.Second)
	first := h.opened * voice.FrameSize
	last := t.pauses[len(t.pauses)-1].begin + listened
	var shown backend.Update
	var clock time.Duration
	for at := first; at+step <= len(t.pcm) && human.Duration(at) < last; at += step {
		clock = max(clock, human.Duration(at+step))
		before := processorTime()
		u, err := s.Feed(ctx, t.pcm[at:at+step])
		if err != nil {
			return h, err
		}
		clock += processorTime() - before
		if u != shown {
			h.texts = append(h.texts, text{clock, u.Partial, u.Through})
			shown = u
		}
	}
	return h, nil
}

// processorTime returns how much processor time this process has used.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // it cannot fail
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
