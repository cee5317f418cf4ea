package session

import (
	"time"

	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/voice"
)

const (
	// echoFor is how long an echo is looked for after the agent was heard, in frames: its way to and fro, and the room's.
	echoFor = 1000 / frameMS
	// leastPlayout is what a client waits at least before it plays what has come.
	leastPlayout = 20 * time.Millisecond
	// echoDrift is how far the reference may be off before it is put right: a client's clock is not ours, and packets come in bursts.
	echoDrift = format.OutputRate * 60 / 1000
)

// echo finds the agent's own sound in what comes in, where the client's echo cancellation has left it: a page that plays its
// microphone's stream past the browser's, a loud loudspeaker.
type echo struct {
	voice  *voice.Echo
	down   *voice.Resampler // format.OutputRate to the detector's rate
	framer voice.Framer
	at     voice.Samples // the far-end position where the next 10 ms of the reference begin
	idle   int           // frames since the agent was heard

	pcm      [format.OutputRate / 1000 * frameMS]int16
	scratch  []float32
	resample []float32
}

func newEcho() (echo, error) {
	down, err := voice.NewResampler(format.OutputRate, voice.FrameRate)
	return echo{voice: voice.NewEcho(), down: down, idle: echoFor}, err
}

// explained reports whether frame, 10 ms of what came in, is what went out a way to and fro ago.
func (s *Session) explained(frame []float32) bool {
	out := s.can.FarEndReader
	e := &s.hearing.echo
	switch {
	case out == nil:
		return false
	case s.audible():
		e.idle = 0
	case e.idle >= echoFor:
		return false
	default:
		e.idle++
	}
	return e.voice.Frame(frame, e.reference(out, s.wayBack()))
}

// wayBack is the least time from what goes out to what comes of it.
func (s *Session) wayBack() time.Duration {
	if l := s.can.RoundTripper; l != nil {
		return l.RoundTrip() + leastPlayout
	}
	return leastPlayout
}

// reference is what went out so long ago, the next 10 ms of it; nil where that is not known.
func (e *echo) reference(out call.FarEndReader, ago time.Duration) []float32 {
	due := out.FarEndPosition() - voice.SamplesIn(ago.Milliseconds(), format.OutputRate) - voice.Samples(len(e.pcm))
	if off := e.at - due; off > echoDrift || off < -echoDrift {
		e.at = due
	}
	if !out.ReadFarEnd(e.at, e.pcm[:]) {
		return nil
	}
	e.at += voice.Samples(len(e.pcm))
	e.scratch = voice.PCM16ToFloat(e.scratch[:0], e.pcm[:])
	e.resample = e.down.Append(e.resample[:0], e.scratch)
	frame, rest := e.framer.Push(e.resample)
	if len(rest) > 0 {
		e.framer.Push(rest) // less than a frame: 10 ms came in
	}
	return frame
}
