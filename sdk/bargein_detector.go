package sdk

import "github.com/antiphon-rt/antiphon/voice"

// Voice is what a BargeInDetector finds in one frame.
type Voice uint8

// What a BargeInDetector finds. Exhaustively:
const (
	// None: nothing new.
	None Voice = iota
	// Began: somebody begins to speak, and the playback does not explain it.
	Began
	// Lasted: the voice has lasted for 160 ms, with no gap above 100 ms.
	Lasted
	// Ended: there was no voice for 250 ms.
	Ended
)

// Event is what a peer tells its sink about v, nil for None. mark and known are those of a Ducker at this moment.
func (v Voice) Event(mark uint32, known bool) PeerEvent {
	switch v {
	case None:
		return nil
	case Began:
		return VoiceBegan{Mark: mark, Known: known}
	case Lasted:
		return VoiceLasted{}
	case Ended:
		return VoiceEnded{}
	}
	return nil
}

// The detector's times, in frames of 10 ms, and the thresholds of its detector. An onset is found early rather than surely: what
// follows from it can be undone.
const (
	earOnset  = 1   // speech in a row that is an onset
	earLasted = 14  // from the onset on, which is found some 30 ms after the voice begins: 160 ms of voice
	earGap    = 10  // the longest gap in a voice that lasts
	earEnded  = 25  // without speech
	earFirst  = 300 // of playback at first: echo cancellation adapts
	earAfter  = 25  // after each playback: its echo dies away
	// earOnsetRaised and earThresholdRaised hold in the last two.
	earOnsetRaised     = 4
	earThreshold       = 0.4
	earThresholdRaised = 0.7
)

// BargeInDetector finds the moments at which somebody begins to speak while the agent does. A peer has one beside its microphone and
// gives it every frame of the call. With the phrases of make bench-bargein, spoken by flite in silence, it found the onset after
// 40 ms (median), all within 70 ms; in 75 minutes of an agent whose echo came at -20 and -14 dB it found, with the reference, none
// that was the agent's. It takes 60 kB and no memory after NewBargeInDetector. One goroutine at a time.
type BargeInDetector struct {
	detector *voice.Detector
	echo     *voice.Echo

	run      int // frames of speech in a row
	speaking bool
	lasted   bool
	voiced   int // frames since the voice began, or began again after a gap
	gap      int // frames without speech

	referred bool // there was a reference
	played   int  // frames in which the agent was heard, all in all
	after    int  // frames that are left of the time after a playback
	raised   bool
}

// NewBargeInDetector makes an ear that has heard nothing yet.
func NewBargeInDetector() *BargeInDetector {
	return &BargeInDetector{detector: voice.NewDetector(voice.DetectorConfig{Threshold: earThreshold}), echo: voice.NewEcho()}
}

// Frame takes the next 10 ms of the microphone: 160 samples of mono sound at 16 kHz in [-1, 1]. agent is what the
// loudspeaker played in the same 10 ms, in the same form, or nil where that is not known. playing says whether a reply is
// being played. It panics when a frame has another size.
func (e *BargeInDetector) Frame(mic, agent []float32, playing bool) Voice {
	e.adapt(playing)
	speech := e.detector.Frame(mic).Speech
	if agent != nil || e.referred { // once there was a reference, its echo may come for a while
		explained := e.echo.Frame(mic, agent)
		speech = speech && !explained
		e.referred = true
	}
	return e.take(speech)
}

// adapt raises what is asked of an onset while echo cancellation has not settled.
func (e *BargeInDetector) adapt(playing bool) {
	switch {
	case playing:
		e.played++
		e.after = earAfter
	case e.after > 0:
		e.after--
	}
	raised := playing && e.played <= earFirst || !playing && e.after > 0
	if raised == e.raised {
		return
	}
	e.raised = raised
	threshold := float32(earThreshold)
	if raised {
		threshold = earThresholdRaised
	}
	e.detector.SetThreshold(threshold)
}

func (e *BargeInDetector) take(speech bool) Voice {
	if speech {
		e.run++
		e.gap = 0
	} else {
		e.run = 0
		e.gap++
	}
	if !e.speaking {
		onset := earOnset
		if e.raised {
			onset = earOnsetRaised
		}
		if e.run < onset {
			return None
		}
		e.speaking, e.lasted, e.voiced = true, false, e.run
		return Began
	}
	e.voiced++
	switch {
	case e.gap >= earEnded:
		e.speaking = false
		return Ended
	case e.gap > earGap:
		e.voiced = 0
	case speech && e.voiced >= earLasted && !e.lasted:
		e.lasted = true
		return Lasted
	}
	return None
}

// Reset forgets all sound, as for a new microphone or loudspeaker.
func (e *BargeInDetector) Reset() {
	e.detector.Reset()
	e.echo.Reset()
	e.run, e.gap, e.voiced, e.speaking, e.lasted = 0, 0, 0, false, false
}
