package voice

// This file decides whether the playback explains the sound of the microphone.

import "slices"

// Echo decides whether the sound of the loudspeaker explains the sound of the microphone. The echo may be all of that sound, or the rest that
// the echo cancellation of a browser leaves. Echo compares the levels of bands. It does not need the delay of the echo, which may be up to
// 240 ms, nor the room. With a Detector it shows which frames of speech are the agent's own:
//
//	if d := detector.Frame(mic); !echo.FrameOf(detector, playback) && d.Speech {
//		// the user speaks
//	}
//
// The reference is the playback at full level. A ducked agent has less echo, which explains less of the microphone's sound.
// An Echo takes 8 kB beside its Tables, and does not allocate after NewEcho. Only one goroutine at a time may use it.
type Echo struct {
	window   *[windowSize]float32
	spectrum *Spectrum
	agent    echoSignal

	ring  [EchoFrames]echoBands // levels of the reference; at is the index of the newest
	at    int
	level echoBands // the highest recent level of each band; it decays like the sound in a room
	gain  echoBands // gain of the path from the loudspeaker to the microphone

	heard, before  echoBands // the highest levels of the microphone in this block of EchoFrames frames, and in the one before
	played, former echoBands // the same of the reference
	frame          int       // frames of this block
	mute           int       // blocks in a row in which the agent was audible and the microphone digitally silent
}

// EchoFrames is the longest delay of an echo after its playback: 240 ms.
const EchoFrames = 24

const (
	// echoDecay is how fast sound decays in the room, in dB a frame: 60 dB in 0.4 s.
	echoDecay = 1.5
	// firstGain is the gain of the path at the start, in dB: that of a loudspeaker at some distance, without echo cancellation.
	firstGain  = -14
	leastGain  = -60
	echoMargin = 7 // dB by which an echo may exceed the expected level
	// The gain is a running quantile: four of five frames stay below it. A user who talks over the agent for half a second moves it
	// by 1.2 dB.
	gainRise, gainFall = 0.024, 0.006
	// gainSink is how far the gain falls in a block where it is certainly too high, because with any delay the echo would be louder than all
	// that the microphone hears. So without an echo, as with headphones, the first gain does not hide the user's speech for long.
	gainSink = 3
	// muteBlocks is after how many blocks of mute there is certainly no echo: each gain of a band that the agent plays in has fallen to the least by then.
	muteBlocks = (firstGain - leastGain + gainSink - 1) / gainSink
	// playsAbove is the level of a band from which the agent counts as audible in it, in dBFS.
	playsAbove = -75
	// noiseMost is how many times its mean the power of noise may be: 9 dB.
	noiseMost = 8
	// explainedShare is the share of the microphone's power above the noise that the echo must explain.
	explainedShare = 0.6
)

// echoEdge has the first bin of each band, and the end of the last band. A band is about a third of an octave.
var echoEdge = [...]int{3, 6, 10, 14, 18, 23, 28, 34, 41, 49, 57, 64, 76, 91, 109, 130, 155, 184, 216, 250}

// echoBands are levels in dB.
type echoBands [len(echoEdge) - 1]float32

// noLevels are the highest levels of nothing, and leastGains the gains of a path without an echo.
var noLevels, leastGains = allBands(MinDBFS), allBands(leastGain)

func allBands(level float32) (b echoBands) {
	for i := range b {
		b[i] = level
	}
	return b
}

// echoSignal has the last 32 ms of the reference.
type echoSignal struct {
	past   [windowSize]float32
	power  echoBands // of the last frame, as power
	silent int       // frames of silence in a row, at most silentFrames
}

// silentFrames is how many frames of silence make all of echoSignal.past silent.
const silentFrames = (windowSize + FrameSize - 1) / FrameSize

// NewEchoFor returns an Echo for a new stream of the microphone of d. It shares the tables of d.
func NewEchoFor(d *Detector) *Echo {
	e := &Echo{window: &d.tables.window, spectrum: newSpectrum(d.tables.twiddles)}
	e.Reset()
	return e
}

// Reset begins a new stream in an unknown room, for example after a change of the microphone or the loudspeaker.
func (e *Echo) Reset() {
	e.agent, e.at, e.frame, e.mute = echoSignal{}, 0, 0, 0
	e.gain, e.level = allBands(firstGain), noLevels
	e.heard, e.before, e.played, e.former = noLevels, noLevels, noLevels, noLevels
	for k := range e.ring {
		e.ring[k] = noLevels
	}
}

// Needless reports whether FrameOf need not be called for the frame that d took last: it would report true and learn nothing. The microphone is digitally silent, as that of
// a user who is muted, and was so for 4 s of the agent's sound: there is no echo. After frames that were left out, the caller gives those of the last EchoFrames of them that it
// has to Play, so that FrameOf knows what was played.
func (e *Echo) Needless(d *Detector) bool { return d.silent >= silentFrames && e.gain == leastGains }

// Play takes a frame of the playback alone. nil is silence.
func (e *Echo) Play(reference []float32) {
	if reference != nil && len(reference) != FrameSize {
		panic("voice: an echo takes frames of exactly FrameSize samples; cut the streams with a Framer")
	}
	e.measure(reference)
	e.expect()
}

// FrameOf takes the frame of the microphone that d took last, and what was played with it, exactly FrameSize mono samples in [-1, 1] at FrameRate, and reports whether the
// playback explains the sound of the microphone. It uses the spectrum that d has computed, which is half of the work. A nil reference is silence. FrameOf does not keep the
// frames. It panics if the reference has another size.
func (e *Echo) FrameOf(d *Detector, reference []float32) (explained bool) {
	e.Play(reference)
	var all, told float32
	for b := range e.gain { // echoEdge and the bands of a Detector are the same bins
		power := d.bands.power.band(b)
		level := decibels(power)
		e.heard[b], e.played[b] = max(e.heard[b], level), max(e.played[b], e.ring[e.at][b])
		if rest := power - noiseMost*d.bands.noise.band(b); rest > 0 { // else it may all be noise, and says nothing of the echo
			all += rest
			told += min(rest, powerOf(e.level[b]+e.gain[b]+echoMargin))
			e.learn(b, level)
		}
	}
	if e.frame++; e.frame == EchoFrames {
		e.bound()
	}
	return told >= explainedShare*all
}

// bound lowers the gains after each block of frames. The echo of the block before has come by now, whatever its delay is, and cannot have been louder than what the
// microphone has heard since.
func (e *Echo) bound() {
	e.frame = 0
	if e.heard != noLevels || e.before != noLevels {
		e.mute = 0
	} else if slices.Max(e.former[:]) >= playsAbove {
		e.mute++
	}
	for b, played := range e.former[:] {
		if most := max(e.heard[b], e.before[b]) - played; played >= playsAbove && most < e.gain[b] {
			e.gain[b] = max(e.gain[b]-gainSink, most, leastGain)
		}
	}
	if e.mute >= muteBlocks {
		e.gain = leastGains
	}
	e.before, e.former, e.heard, e.played = e.heard, e.played, noLevels, noLevels
}

// measure adds the next frame of the reference and computes its band powers.
func (e *Echo) measure(frame []float32) {
	s := &e.agent
	if s.rests(frame) {
		return
	}
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

// rests counts silent frames, and reports whether all of the signal's last 32 ms are silent. The powers are 0 then.
func (s *echoSignal) rests(frame []float32) bool {
	if frame != nil && *(*[FrameSize]float32)(frame) != [FrameSize]float32{} {
		s.silent = 0
		return false
	}
	if s.silent < silentFrames {
		if s.silent++; s.silent == silentFrames {
			*s = echoSignal{silent: silentFrames}
		}
	}
	return s.silent == silentFrames
}

// expect adds the levels of the reference to the ring, and updates the highest recent levels.
func (e *Echo) expect() {
	e.at = (e.at + 1) % EchoFrames
	now := &e.ring[e.at]
	for b, power := range e.agent.power[:] {
		now[b] = decibels(power)
		e.level[b] -= echoDecay
	}
	for k := range e.ring {
		for b, l := range e.ring[k][:] {
			if l > e.level[b] { // no level is NaN, so a comparison does, which takes half the time of max
				e.level[b] = l
			}
		}
	}
}

// learn updates the gain of a band, in which the microphone hears more than noise, while the agent is audible in it.
func (e *Echo) learn(b int, level float32) {
	if e.level[b] < playsAbove {
		return
	}
	if level-e.level[b] > e.gain[b] {
		e.gain[b] = min(e.gain[b]+gainRise, 0)
		return
	}
	e.gain[b] = max(e.gain[b]-gainFall, leastGain)
}

// powerOf returns the power of a level in dB.
func powerOf(level float32) float32 {
	a := Amplitude(level)
	return a * a
}
