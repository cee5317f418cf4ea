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
	// frameOut is how many samples of the agent's audio a frame has.
	frameOut = room.OutputRate / 1000 * frameMS
	// warm is how many frames of the reference have something of what the resampler and the framer had kept, after others were left out.
	warm = 2
)

// echo finds the agent's own sound in incoming audio where the client's echo cancellation has left it: with a page that takes
// the microphone's stream from somewhere else than the browser's echo cancellation, or with a loud loudspeaker.
type echo struct {
	judgement *voice.Echo
	down      *voice.Resampler // room.OutputRate to the detector's rate
	framer    voice.Framer
	at        voice.Samples // the far-end position where the next 10 ms of the reference begin
	idle      int           // frames since the agent was audible
	behind    bool          // the judgement has not got the last frames of the reference

	pcm       [frameOut]int16
	resampled []float32
}

// newEcho returns the echo judgement of the audio that d hears. Both directions have one rate: down is from that to the detector's.
func newEcho(d *voice.Detector, down *voice.Resampler) echo {
	return echo{judgement: voice.NewEchoFor(d), down: down, idle: echoFrames}
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
	if e.judgement.Needless(d) { // a user who is muted costs little
		e.behind = true
		return true
	}
	delay := minPlayoutDelay + late
	if v.Path != nil {
		delay += v.Path.RoundTrip()
	}
	due := v.FarEnd.FarEndPosition() - voice.SamplesIn(delay.Milliseconds(), room.OutputRate) - frameOut
	for n := voice.Samples(voice.EchoFrames + warm); e.behind && n > 0; n-- {
		e.at = due - n*frameOut
		e.judgement.Play(e.reference(v.FarEnd))
	}
	e.behind = false
	if off := e.at - due; off > maxEchoDrift || off < -maxEchoDrift {
		e.at = due
	}
	return e.judgement.FrameOf(d, e.reference(v.FarEnd))
}

// reference returns the 10 ms that went out from e.at on, at the detector's rate, and moves on; nil if they are not known.
func (e *echo) reference(sent link.FarEndReader) []float32 {
	if !sent.ReadFarEnd(e.at, e.pcm[:]) {
		return nil
	}
	e.at += frameOut
	e.resampled = e.down.AppendFloats(e.resampled[:0], e.pcm[:])
	frame, rest := e.framer.Push(e.resampled)
	if len(rest) > 0 {
		e.framer.Push(rest) // less than a frame: 10 ms came in
	}
	return frame
}
