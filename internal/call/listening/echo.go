package listening

// The echo judgement: does the agent's own sound explain what the microphone hears?

import (
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

const (
	// echoFrames is how long an echo is looked for after the agent was audible, in frames: the round trip and the room's reverberation.
	echoFrames = 1000 / frameMS
	// minPlayoutDelay is the least time that a client keeps incoming audio before it plays it.
	minPlayoutDelay = 20 * time.Millisecond
	// maxEchoDrift is how far the reference may be off before it is set again, in samples: the client's clock differs from the server's, and packets come in bursts.
	maxEchoDrift = room.OutputRate * 60 / 1000
)

// echo finds the agent's own sound in incoming audio where the client's echo cancellation has left it: with a page that takes
// the microphone's stream from somewhere else than the browser's echo cancellation, or with a loud loudspeaker.
type echo struct {
	judgement *voice.Echo
	down      *voice.Resampler // room.OutputRate to the detector's rate
	framer    voice.Framer
	at        voice.Samples // the far-end position where the next 10 ms of the reference begin
	idle      int           // frames since the agent was audible

	pcm       [room.OutputRate / 1000 * frameMS]int16
	scratch   []float32
	resampled []float32
}

// newEcho returns the echo judgement of the audio that d hears.
func newEcho(d *voice.Detector) (echo, error) {
	down, err := voice.NewResampler(room.OutputRate, voice.FrameRate)
	return echo{judgement: voice.NewEchoFor(d), down: down, idle: echoFrames}, err
}

// explains reports whether the frame that d took last is the agent's audio that went out one round trip or more before. late is how late that frame is.
func (e *echo) explains(d *voice.Detector, v InputView, late time.Duration) bool {
	switch {
	case v.FarEnd == nil:
		return false
	case v.AgentAudible:
		e.idle = 0
	case e.idle >= echoFrames:
		return false
	default:
		e.idle++
	}
	delay := minPlayoutDelay + late
	if v.Path != nil {
		delay += v.Path.RoundTrip()
	}
	return e.judgement.FrameOf(d, e.reference(v.FarEnd, delay))
}

// reference returns the next 10 ms of what went out the given time ago, at the detector's rate; nil if that is not known.
func (e *echo) reference(sent link.FarEndReader, ago time.Duration) []float32 {
	due := sent.FarEndPosition() - voice.SamplesIn(ago.Milliseconds(), room.OutputRate) - voice.Samples(len(e.pcm))
	if off := e.at - due; off > maxEchoDrift || off < -maxEchoDrift {
		e.at = due
	}
	if !sent.ReadFarEnd(e.at, e.pcm[:]) {
		return nil
	}
	e.at += voice.Samples(len(e.pcm))
	e.scratch = voice.PCM16ToFloat(e.scratch[:0], e.pcm[:])
	e.resampled = e.down.Append(e.resampled[:0], e.scratch)
	frame, rest := e.framer.Push(e.resampled)
	if len(rest) > 0 {
		e.framer.Push(rest) // less than a frame: 10 ms came in
	}
	return frame
}
