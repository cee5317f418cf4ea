//go:build !js

package native

// Speech of the user over the agent, found in the sound of both sides.

import (
	"sync"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
)

const (
	// loudAgent is the level in dBFS above which the agent counts as being played. It counts so for playTail more frames of 10 ms,
	// which covers the pauses between words.
	loudAgent = -55
	playTail  = 30
	// maxReference bounds the agent's sound that waits to be compared with the microphone, in samples: 200 ms.
	maxReference = 10 * FrameSize
)

// speechDetection finds the user's speech over the agent. One goroutine gives it the agent's sound, another one the user's;
// the second gets the findings.
type speechDetection struct {
	detector       *sdk.BargeInDetector
	mic, agent     track
	playTailLeft   int // frames for which the agent still counts as being played
	referenceFrame []int16

	mu        sync.Mutex
	reference []int16 // the agent's sound that waits. Invariant: at most maxReference.
}

// track is the sound of one side at the rate of the detector.
type track struct {
	resampler *voice.Resampler
	floats    []float32
	waiting   []float32 // Invariant: less than a frame between two calls of microphoneFrame
}

func newSpeechDetection() *speechDetection {
	h := &speechDetection{detector: sdk.NewBargeInDetector(), referenceFrame: make([]int16, FrameSize), reference: make([]int16, 0, maxReference)}
	for _, t := range []*track{&h.mic, &h.agent} {
		t.resampler, _ = voice.NewResampler(Rate, voice.FrameRate) // it supports both rates
		t.floats = make([]float32, 0, FrameSize)
		t.waiting = make([]float32, 0, 4*voice.FrameSize)
	}
	return h
}

// agentFrame takes the sound that the loudspeaker gets, before ducking.
func (h *speechDetection) agentFrame(pcm []int16) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if over := len(h.reference) + len(pcm) - maxReference; over > 0 {
		h.reference = h.reference[:copy(h.reference, h.reference[min(over, len(h.reference)):])]
	}
	h.reference = append(h.reference, pcm[max(len(pcm)-maxReference, 0):]...)
}

// takeReference fills pcm with the agent's sound since the last call, and with silence where there was none.
func (h *speechDetection) takeReference(pcm []int16) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := copy(pcm, h.reference)
	h.reference = h.reference[:copy(h.reference, h.reference[n:])]
	clear(pcm[n:])
}

// microphoneFrame takes a frame of the user's sound and gives each finding to tell.
func (h *speechDetection) microphoneFrame(pcm []int16, tell func(sdk.Detection)) {
	h.takeReference(h.referenceFrame)
	h.mic.add(pcm)
	h.agent.add(h.referenceFrame)
	for len(h.mic.waiting) >= voice.FrameSize && len(h.agent.waiting) >= voice.FrameSize {
		agent := h.agent.waiting[:voice.FrameSize]
		if voice.DBFS(voice.RMS(agent)) > loudAgent {
			h.playTailLeft = playTail
		} else if h.playTailLeft > 0 {
			h.playTailLeft--
		}
		found := h.detector.Frame(h.mic.waiting[:voice.FrameSize], agent, h.playTailLeft > 0)
		h.mic.drop()
		h.agent.drop()
		if found != sdk.NoDetection {
			tell(found)
		}
	}
}

// add appends sound, resampled to the detector's rate.
func (t *track) add(pcm []int16) {
	t.floats = voice.PCM16ToFloat(t.floats[:0], pcm)
	t.waiting = t.resampler.Append(t.waiting, t.floats)
}

// drop removes the first frame.
func (t *track) drop() {
	t.waiting = t.waiting[:copy(t.waiting, t.waiting[voice.FrameSize:])]
}
