package browser

import (
	"math"
	"unsafe"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/voice"
)

const (
	// loudAgent is the level in dBFS above which the agent counts as being played, and playTail how many frames of 10 ms it
	// still does so behind a louder one: the pauses between words.
	loudAgent = -55
	playTail  = 30
	// stillAgent is the level in dBFS under which there is nothing of a reply.
	stillAgent = -75
	// levelFrames is how many frames of 10 ms one measurement of the levels has.
	levelFrames = 5
	// quietest is the level that counts as silence in a meter, in dBFS.
	quietest = -60
)

// hearing is what is made of the sound of both sides, 10 ms at a time: the voice of the person over the playback, the levels
// of both, and how long the agent has been silent. It takes no memory after newHearing.
type hearing struct {
	raw   []float32 // 10 ms of the microphone, then 10 ms of the agent, at the rate of the browser
	bytes []byte    // the same memory

	mic, agent track
	ear        *sdk.BargeInDetector

	tail  int // frames for which the agent still counts as being played
	still int // frames of silence in a row of the agent's
	n     int // frames of the running measurement
}

// track is one side's sound at the rate of the detector.
type track struct {
	resampler *voice.Resampler
	waiting   []float32 // Invariant: less than a frame between two calls of take
	frame     [voice.FrameSize]float32
	sum       float64 // of squares, in the running measurement
}

// found is what hearing has found in 10 ms.
type found struct {
	voice sdk.Voice
	// measured: levels are new.
	measured bool
	levels   sdk.Levels
}

// newHearing is for sound at this rate, in hertz; it fails for rates that voice.NewResampler does not take.
func newHearing(rate int) (*hearing, error) {
	h := &hearing{ear: sdk.NewBargeInDetector()}
	for _, t := range []*track{&h.mic, &h.agent} {
		var err error
		if t.resampler, err = voice.NewResampler(rate, voice.FrameRate); err != nil {
			return nil, err
		}
		t.waiting = make([]float32, 0, 4*voice.FrameSize)
	}
	h.raw = make([]float32, 2*rate/100)
	// Both the browser and its wasm programs have the least significant byte first.
	h.bytes = unsafe.Slice((*byte)(unsafe.Pointer(&h.raw[0])), 4*len(h.raw))
	return h, nil
}

// take hears what was put into raw. agent says whether the agent's half is the playback. What is found is nothing while less
// than 10 ms at the detector's rate have come.
func (h *hearing) take(agent bool) (f found) {
	half := len(h.raw) / 2
	h.mic.add(h.raw[:half])
	h.agent.add(h.raw[half:])
	// Both sides have had as many samples, at the same rates.
	for h.mic.next() && h.agent.next() {
		if one := h.hear(agent); one != sdk.None {
			f.voice = one
		}
		if h.n++; h.n == levelFrames {
			f.measured, f.levels = true, sdk.Levels{Mic: h.mic.level(), Agent: h.agent.level()}
			h.n = 0
		}
	}
	return f
}

func (h *hearing) hear(agent bool) sdk.Voice {
	loudness := voice.DBFS(voice.RMS(h.agent.frame[:]))
	switch {
	case loudness > loudAgent:
		h.tail = playTail
	case h.tail > 0:
		h.tail--
	}
	if loudness < stillAgent {
		h.still++
	} else {
		h.still = 0
	}
	h.mic.sum += squares(h.mic.frame[:])
	h.agent.sum += squares(h.agent.frame[:])
	if !agent {
		return h.ear.Frame(h.mic.frame[:], nil, false)
	}
	return h.ear.Frame(h.mic.frame[:], h.agent.frame[:], h.tail > 0)
}

// add takes sound at the browser's rate.
func (t *track) add(sound []float32) { t.waiting = t.resampler.Append(t.waiting, sound) }

// next moves a frame out of what waits, if there is one.
func (t *track) next() bool {
	if len(t.waiting) < len(t.frame) {
		return false
	}
	n := copy(t.frame[:], t.waiting)
	t.waiting = t.waiting[:copy(t.waiting, t.waiting[n:])]
	return true
}

// level ends the running measurement: 0 for silence to 1 for full scale, linear in decibels.
func (t *track) level() float32 {
	sum := t.sum
	t.sum = 0
	if sum == 0 {
		return 0
	}
	db := voice.DBFS(float32(math.Sqrt(sum / (levelFrames * voice.FrameSize))))
	return min(max(1-db/quietest, 0), 1)
}

func squares(sound []float32) (sum float64) {
	for _, v := range sound {
		sum += float64(v) * float64(v)
	}
	return sum
}
