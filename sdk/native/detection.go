//go:build !js

package native

import (
	"sync"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/voice"
)

const (
	// loudAgent is the level in dBFS above which the agent counts as being played, and playTail how many frames of 10 ms it
	// still does so behind a louder one: the pauses between words.
	loudAgent = -55
	playTail  = 30
	// maxReference bounds the agent's sound that waits to be compared with the microphone's, in samples: 200 ms.
	maxReference = 10 * FrameSize
)

// speechDetection finds the person's voice over the agent's. The agent's sound comes from one goroutine, the person's from
// another, which is told what was found.
type speechDetection struct {
	detector       *sdk.BargeInDetector
	mic, agent     track
	playTailLeft   int // frames for which the agent still counts as being played
	referenceFrame []int16

	mu        sync.Mutex
	reference []int16 // of the agent's sound. Invariant: at most maxReference.
}

// track is one side's sound at the rate of the detector.
type track struct {
	resampler *voice.Resampler
	floats    []float32
	waiting   []float32 // Invariant: less than a frame between two calls of said
}

func newSpeechDetection() *speechDetection {
	h := &speechDetection{detector: sdk.NewBargeInDetector(), referenceFrame: make([]int16, FrameSize), reference: make([]int16, 0, maxReference)}
	for _, t := range []*track{&h.mic, &h.agent} {
		t.resampler, _ = voice.NewResampler(Rate, voice.FrameRate) // both rates are known to it
		t.floats = make([]float32, 0, FrameSize)
		t.waiting = make([]float32, 0, 4*voice.FrameSize)
	}
	return h
}

// agentFrame takes what the loudspeaker gets, before it is lowered.
func (h *speechDetection) agentFrame(pcm []int16) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if over := len(h.reference) + len(pcm) - maxReference; over > 0 {
		h.reference = h.reference[:copy(h.reference, h.reference[min(over, len(h.reference)):])]
	}
	h.reference = append(h.reference, pcm[max(len(pcm)-maxReference, 0):]...)
}

// takeReference fills pcm with what the loudspeaker got meanwhile, silence where it got nothing.
func (h *speechDetection) takeReference(pcm []int16) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := copy(pcm, h.reference)
	h.reference = h.reference[:copy(h.reference, h.reference[n:])]
	clear(pcm[n:])
}

// microphoneFrame takes a frame of the person's and gives what was found to tell.
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

func (t *track) add(pcm []int16) {
	t.floats = voice.PCM16ToFloat(t.floats[:0], pcm)
	t.waiting = t.resampler.Append(t.waiting, t.floats)
}

func (t *track) drop() {
	t.waiting = t.waiting[:copy(t.waiting, t.waiting[voice.FrameSize:])]
}
