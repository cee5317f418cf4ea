package voice

// An Echo tells the loudspeaker's sound in the microphone from a person's: what a browser's echo cancellation leaves, or
// all of it where there is none. It compares band levels and needs to know neither the echo's delay nor the room, as long
// as the echo comes within 240 ms. Beside a Detector it says which of its frames of speech are the agent's own:
//
//	if d := detector.Frame(mic); d.Speech && !echo.Frame(mic, playback) {
//		// a person speaks
//	}
//
// The reference is what plays at full level: an agent that is lowered echoes less, which explains less too.
// It takes 20 kB. One goroutine at a time; no allocation after NewEcho.
type Echo struct {
	window     [windowSize]float32
	spectrum   *Spectrum
	mic, agent ear

	ring  [echoFrames]echoBands // of the reference; the newest is at at
	at    int
	level echoBands // the highest level of late, by band, falling with the room
	least echoBands // the lowest level within the ring
	gain  echoBands // of the path from the loudspeaker to the microphone
	floor echoBands // of the microphone's own noise
}

const (
	// echoFrames is how long after its playback an echo may come: 240 ms.
	echoFrames = 24
	// echoDecay is how fast the room forgets in dB a frame: 60 dB in 0.4 s.
	echoDecay = 1.5
	// firstGain is the path's gain in dB before anything is learned: a loudspeaker at some distance, without cancellation.
	firstGain  = -14
	leastGain  = -60
	echoMargin = 7 // dB that an echo may stand above what is expected
	// The gain is a running quantile: it rises to what four of five frames stay under. A person who talks over the agent
	// for half a second moves it by 1.2 dB.
	gainRise, gainFall = 0.024, 0.006
	// gainSink is how fast it falls where it cannot be so high: whenever the echo came, it would have been louder than all that
	// is heard. So where there is none, as with headphones, nobody has to speak against the first gain for long.
	gainSink = 0.1
	// playsAbove is the level in dBFS of a band at which the agent counts as heard in it.
	playsAbove = -75
	// floorRise is how fast the noise floor follows a noise that becomes louder, in dB a frame, and floorMargin how far noise
	// swings above it in dB.
	floorRise, floorMargin = 0.02, 9
	// explainedShare is the share of the microphone's power that must be expected.
	explainedShare = 0.6
)

// echoEdge are the bins at which the bands begin, and the end of the last: about a third of an octave each.
var echoEdge = [...]int{3, 6, 10, 14, 18, 23, 28, 34, 41, 49, 57, 64, 76, 91, 109, 130, 155, 184, 216, 250}

// echoBands are levels in dB.
type echoBands [len(echoEdge) - 1]float32

// ear has the last 32 ms of one signal.
type ear struct {
	past  [windowSize]float32
	power echoBands // of the last frame, as power
}

// NewEcho returns an Echo that has heard nothing yet.
func NewEcho() *Echo {
	e := &Echo{}
	fillWindow(&e.window)
	e.spectrum = NewSpectrum(windowSize)
	e.Reset()
	return e
}

// Reset forgets the room and all sound, as for another microphone or loudspeaker.
func (e *Echo) Reset() {
	for _, s := range []*ear{&e.mic, &e.agent} {
		clear(s.past[:])
		clear(s.power[:])
	}
	e.at = 0
	for i := range e.gain {
		e.gain[i], e.floor[i], e.level[i], e.least[i] = firstGain, 0, MinDBFS, MinDBFS
		for k := range e.ring {
			e.ring[k][i] = MinDBFS
		}
	}
}

// Frame takes the next frame of both, each exactly FrameSize mono samples in [-1, 1] at FrameRate, and reports whether the
// playback explains what the microphone hears. A nil reference is silence. It does not keep the frames. It panics when one
// has another size.
func (e *Echo) Frame(mic, reference []float32) (explained bool) {
	if len(mic) != FrameSize || reference != nil && len(reference) != FrameSize {
		panic("voice: an echo takes frames of exactly FrameSize samples; cut the streams with a Framer")
	}
	e.hear(&e.mic, mic)
	e.hear(&e.agent, reference)
	e.expect()
	var all, told float32
	for b, power := range e.mic.power[:] {
		level := decibels(power)
		e.settle(b, level)
		all += power
		told += min(power, powerOf(max(e.level[b]+e.gain[b]+echoMargin, e.floor[b]+floorMargin)))
		e.learn(b, level)
	}
	return told >= explainedShare*all
}

// hear takes a signal's next frame.
func (e *Echo) hear(s *ear, frame []float32) {
	copy(s.past[:], s.past[FrameSize:])
	last := s.past[windowSize-FrameSize:]
	clear(last)
	for i, x := range frame {
		if x == x {
			last[i] = min(max(x, -1), 1)
		}
	}
	var windowed [windowSize]float32
	for i, x := range s.past[:] {
		windowed[i] = x * e.window[i]
	}
	var power [binCount]float32
	e.spectrum.Power(power[:], windowed[:])
	for b := range s.power {
		var sum float32
		for _, p := range power[echoEdge[b]:echoEdge[b+1]] {
			sum += p
		}
		s.power[b] = sum
	}
}

// expect notes what plays and how loud each band of it was of late.
func (e *Echo) expect() {
	e.at = (e.at + 1) % echoFrames
	for b, power := range e.agent.power[:] {
		e.ring[e.at][b] = decibels(power)
		highest, lowest := e.level[b]-echoDecay, e.ring[e.at][b]
		for k := range e.ring {
			highest, lowest = max(highest, e.ring[k][b]), min(lowest, e.ring[k][b])
		}
		e.level[b], e.least[b] = highest, lowest
	}
}

// settle follows the noise of the microphone: down at once, up slowly.
func (e *Echo) settle(b int, level float32) {
	if e.floor[b] == 0 { // nothing was heard yet
		e.floor[b] = level
	}
	e.floor[b] = clamp(e.floor[b]+floorRise, MinDBFS, level)
}

// learn follows the path's gain while the agent is heard.
func (e *Echo) learn(b int, level float32) {
	if e.level[b] < playsAbove {
		return
	}
	if most := level - e.least[b]; most < e.gain[b] {
		e.gain[b] = max(e.gain[b]-gainSink, most, leastGain)
	}
	if level-e.level[b] > e.gain[b] {
		e.gain[b] = min(e.gain[b]+gainRise, 0)
		return
	}
	e.gain[b] = max(e.gain[b]-gainFall, leastGain)
}

// powerOf is the power of a level in dB.
func powerOf(level float32) float32 {
	a := Amplitude(level)
	return a * a
}
