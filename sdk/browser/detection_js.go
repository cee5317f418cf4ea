package browser

// What the sound of both sides says: speech over the playback, levels, and silence of the agent.

import (
	"math"
	"unsafe"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
)

const (
	// loudAgent is the level in dBFS above which the agent counts as being played. It counts so for playTail more frames of 10 ms,
	// which covers the pauses between words.
	loudAgent = -55
	playTail  = 30
	// stillAgent is the level in dBFS below which a frame has no sound of a response.
	stillAgent = -75
	// levelFrames is how many frames of 10 ms one measurement of the levels has.
	levelFrames = 5
	// silenceLevel is the level that sdk.Levels shows as 0, in dBFS.
	silenceLevel = -60
)

// detection measures the sound of both sides, 10 ms at a time: the speech of the user over the playback, the levels of both,
// and how long the agent has been silent. It allocates nothing after newDetection.
type detection struct {
	raw   []float32 // 10 ms of the microphone, then 10 ms of the agent, at the rate of the browser
	bytes []byte    // the same memory as raw

	mic, agent track
	detector   *sdk.BargeInDetector

	playTailLeft int // frames for which the agent still counts as being played
	silentFrames int // how many frames in a row the agent has been silent
	levelFrame   int // how many frames the running measurement has
}

// track is the sound of one side at the rate of the detector.
type track struct {
	resampler *voice.Resampler
	waiting   []float32 // Invariant: less than a frame between two calls of take
	frame     [voice.FrameSize]float32
	sum       float64 // the sum of the squares in the running measurement
}

// measurement is the result of 10 ms.
type measurement struct {
	detection sdk.Detection
	// hasLevels: levels has a new measurement.
	hasLevels bool
	levels    sdk.Levels
}

// newDetection is for sound at this rate, in hertz. It fails for rates that voice.NewResampler does not take.
func newDetection(rate int) (*detection, error) {
	h := &detection{detector: sdk.NewBargeInDetector()}
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

// take measures the sound that was put into raw. agent says whether the second half of raw is the playback. The result is empty
// while less than 10 ms at the detector's rate have come.
func (h *detection) take(agent bool) (f measurement) {
	half := len(h.raw) / 2
	h.mic.add(h.raw[:half])
	h.agent.add(h.raw[half:])
	// Both sides have got as many samples, at the same rates, so both have a frame or none has.
	for h.mic.next() && h.agent.next() {
		if one := h.frame(agent); one != sdk.NoDetection {
			f.detection = one
		}
		if h.levelFrame++; h.levelFrame == levelFrames {
			f.hasLevels, f.levels = true, sdk.Levels{Mic: h.mic.level(), Agent: h.agent.level()}
			h.levelFrame = 0
		}
	}
	return f
}

// frame measures one frame of both sides.
func (h *detection) frame(agent bool) sdk.Detection {
	loudness := voice.DBFS(voice.RMS(h.agent.frame[:]))
	switch {
	case loudness > loudAgent:
		h.playTailLeft = playTail
	case h.playTailLeft > 0:
		h.playTailLeft--
	}
	if loudness < stillAgent {
		h.silentFrames++
	} else {
		h.silentFrames = 0
	}
	h.mic.sum += squares(h.mic.frame[:])
	h.agent.sum += squares(h.agent.frame[:])
	if !agent {
		return h.detector.Frame(h.mic.frame[:], nil, false)
	}
	return h.detector.Frame(h.mic.frame[:], h.agent.frame[:], h.playTailLeft > 0)
}

// add takes sound at the browser's rate.
func (t *track) add(sound []float32) { t.waiting = t.resampler.Append(t.waiting, sound) }

// next moves the next frame from waiting to frame. It returns false when waiting has less than a frame.
func (t *track) next() bool {
	if len(t.waiting) < len(t.frame) {
		return false
	}
	n := copy(t.frame[:], t.waiting)
	t.waiting = t.waiting[:copy(t.waiting, t.waiting[n:])]
	return true
}

// level ends the running measurement. It returns 0 for silence to 1 for full scale, linear in decibels.
func (t *track) level() float32 {
	sum := t.sum
	t.sum = 0
	if sum == 0 {
		return 0
	}
	db := voice.DBFS(float32(math.Sqrt(sum / (levelFrames * voice.FrameSize))))
	return min(max(1-db/silenceLevel, 0), 1)
}

// squares returns the sum of the squares of the samples.
func squares(sound []float32) (sum float64) {
	for _, v := range sound {
		sum += float64(v) * float64(v)
	}
	return sum
}
