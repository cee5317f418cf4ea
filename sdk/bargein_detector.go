package sdk

// The detector of speech over the agent, which each platform runs beside its microphone.

import "github.com/antiphon-rt/antiphon/internal/voice"

// Detection is what a BargeInDetector finds in one frame.
type Detection uint8

// What a BargeInDetector finds.
const (
	// NoDetection: nothing new.
	NoDetection Detection = iota
	// DetectedOnset: speech begins that is not the echo of the playback.
	DetectedOnset
	// DetectedSustained: the sound is like the user's voice (voice.Likeness), some 200 ms after it began. It comes again when the user goes on
	// after a short pause.
	DetectedSustained
	// DetectedEnd: after DetectedSustained there was no speech for 40 ms, or else for 250 ms.
	DetectedEnd
)

// Event returns what a peer tells its sink about v; nil for NoDetection. at and known are a Ducker's Position at this moment.
func (v Detection) Event(at PlayedPosition, known bool) PeerEvent {
	switch v {
	case NoDetection:
		return nil
	case DetectedOnset:
		return SpeechOnset{At: at, Known: known}
	case DetectedSustained:
		return SpeechSustained{}
	case DetectedEnd:
		return SpeechEnded{}
	}
	return nil
}

// The times in frames of 10 ms, and the thresholds of the speech detector. The detector reports an onset early rather than surely,
// because everything that follows from an onset can be undone.
const (
	onsetFrames    = 1   // the number of speech frames in a row that make an onset
	endFrames      = 25  // the number of frames without speech that end it
	settlingFrames = 300 // the first frames of playback, during which echo cancellation adapts
	echoTailFrames = 25  // the frames after each playback, during which its echo fades
	// onsetFramesRaised and thresholdRaised apply during settlingFrames and echoTailFrames.
	onsetFramesRaised = 4
	threshold         = 0.4
	thresholdRaised   = 0.7
)

// BargeInDetector finds the moments at which the user begins to speak while the agent speaks. A peer has one beside its
// microphone and gives it every frame of the call. With the phrases of make bench-bargein, spoken by flite in silence, it found
// the onset after 40 ms (median), and always within 70 ms. In 75 minutes of an agent whose echo came at -20 and -14 dB it took,
// with the reference, none of the agent's sound for speech of the user. It takes 60 kB, and no memory after
// NewBargeInDetector. One goroutine at a time.
type BargeInDetector struct {
	detector *voice.Detector
	echo     *voice.Echo
	talker   voice.Talker
	likeness voice.Likeness

	speechRun int  // frames of speech in a row
	speaking  bool // between the onset and endFrames without speech
	sustained bool // DetectedSustained was the last that was found
	ended     bool // DetectedEnd was
	gapFrames int  // frames without speech

	hasReference bool // a frame had a reference
	playedFrames int  // frames in which the agent was playing, in all
	tailFrames   int  // frames left of the time after a playback
	raised       bool
}

// NewBargeInDetector makes a detector that has heard nothing yet.
func NewBargeInDetector() *BargeInDetector {
	d := voice.NewDetector(voice.DetectorConfig{Threshold: threshold})
	return &BargeInDetector{detector: d, echo: voice.NewEchoFor(d)}
}

// Frame takes the next 10 ms of the microphone: 160 samples of mono sound at 16 kHz in [-1, 1]. agent is what the
// loudspeaker played in the same 10 ms, in the same form, or nil where that is not known. playing says whether a response is
// being played. It panics when a frame has another size.
func (e *BargeInDetector) Frame(mic, agent []float32, playing bool) Detection {
	e.adapt(playing)
	sound := e.detector.Frame(mic).Speech
	speech := sound
	if agent != nil || e.hasReference { // after the last reference its echo may still come
		explained := e.echo.FrameOf(e.detector, agent)
		speech = speech && !explained
		e.hasReference = true
	}
	speech = e.talker.Frame(e.detector, speech, playing)
	return e.take(speech, e.likeness.Frame(e.detector, &e.talker, speech || sound && e.speaking))
}

// adapt asks for a surer onset while echo cancellation has not settled, or its echo is still dying away.
func (e *BargeInDetector) adapt(playing bool) {
	switch {
	case playing:
		e.playedFrames++
		e.tailFrames = echoTailFrames
	case e.tailFrames > 0:
		e.tailFrames--
	}
	raised := playing && e.playedFrames <= settlingFrames || !playing && e.tailFrames > 0
	if raised == e.raised {
		return
	}
	e.raised = raised
	threshold := float32(threshold)
	if raised {
		threshold = thresholdRaised
	}
	e.detector.SetThreshold(threshold)
}

// take counts a frame with or without speech, and returns what follows from it. like says that the agent must be silent because of the sound.
func (e *BargeInDetector) take(speech, like bool) Detection {
	if speech {
		e.speechRun++
		e.gapFrames = 0
	} else {
		e.speechRun = 0
		e.gapFrames++
	}
	if !e.speaking {
		onset := onsetFrames
		if e.raised {
			onset = onsetFramesRaised
		}
		if e.speechRun < onset {
			return NoDetection
		}
		e.speaking, e.sustained, e.ended = true, false, false
		return DetectedOnset
	}
	e.speaking = e.gapFrames < endFrames
	switch {
	case e.sustained && !like, !e.speaking && !e.ended:
		e.sustained, e.ended = false, true
		return DetectedEnd
	case like && !e.sustained:
		e.sustained, e.ended = true, false
		return DetectedSustained
	}
	return NoDetection
}

// Reset forgets all sound, as for a new microphone or loudspeaker.
func (e *BargeInDetector) Reset() {
	e.detector.Reset()
	e.echo.Reset()
	e.talker.Reset()
	e.likeness = voice.Likeness{}
	e.speechRun, e.gapFrames, e.speaking, e.sustained, e.ended = 0, 0, false, false, false
}
