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

// hearing finds the person's voice over the agent's. The agent's sound comes from one goroutine, the person's from
// another, which is told what was found.
type hearing struct {
	ear        *sdk.BargeInDetector
	mic, agent track
	tail       int // frames for which the agent still counts as being played
	reference  []int16

	mu      sync.Mutex
	waiting []int16 // of the agent's sound. Invariant: at most maxReference.
}

// track is one side's sound at the rate of the detector.
type track struct {
	resampler *voice.Resampler
	floats    []float32
	waiting   []float32 // Invariant: less than a frame between two calls of said
}

func newHearing() *hearing {
	h := &hearing{ear: sdk.NewBargeInDetector(), reference: make([]int16, FrameSize), waiting: make([]int16, 0, maxReference)}
	for _, t := range []*track{&h.mic, &h.agent} {
		t.resampler, _ = voice.NewResampler(Rate, voice.FrameRate) // both rates are known to it
		t.floats = make([]float32, 0, FrameSize)
		t.waiting = make([]float32, 0, 4*voice.FrameSize)
	}
	return h
}

// heard takes what the loudspeaker gets, before it is lowered.
func (h *hearing) heard(pcm []int16) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if over := len(h.waiting) + len(pcm) - maxReference; over > 0 {
		h.waiting = h.waiting[:copy(h.waiting, h.waiting[min(over, len(h.waiting)):])]
	}
	h.waiting = append(h.waiting, pcm[max(len(pcm)-maxReference, 0):]...)
}

// take fills pcm with what the loudspeaker got meanwhile, silence where it got nothing.
func (h *hearing) take(pcm []int16) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := copy(pcm, h.waiting)
	h.waiting = h.waiting[:copy(h.waiting, h.waiting[n:])]
	clear(pcm[n:])
}

// said takes a frame of the person's and gives what was found to tell.
func (h *hearing) said(pcm []int16, tell func(sdk.Voice)) {
	h.take(h.reference)
	h.mic.add(pcm)
	h.agent.add(h.reference)
	for len(h.mic.waiting) >= voice.FrameSize && len(h.agent.waiting) >= voice.FrameSize {
		agent := h.agent.waiting[:voice.FrameSize]
		if voice.DBFS(voice.RMS(agent)) > loudAgent {
			h.tail = playTail
		} else if h.tail > 0 {
			h.tail--
		}
		found := h.ear.Frame(h.mic.waiting[:voice.FrameSize], agent, h.tail > 0)
		h.mic.drop()
		h.agent.drop()
		if found != sdk.None {
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
