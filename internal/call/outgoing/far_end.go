package outgoing

import "github.com/antiphon-rt/antiphon/internal/voice"

// The far-end history: keeps the last second of what was sent, so that the session can find its echo in incoming audio.

// FarEndKept is how much of the sent audio is kept for finding echo: 1 s.
const FarEndKept = voice.Samples(Rate)

// farEnd is the audio that was sent last, silence included. Positions are samples since the call began.
type farEnd struct {
	ring []int16 // allocated with the first frame
	end  voice.Samples
}

func (h *farEnd) add(pcm []int16) {
	if h.ring == nil {
		h.ring = make([]int16, FarEndKept)
	}
	for len(pcm) > 0 {
		n := copy(h.ring[h.end%FarEndKept:], pcm)
		h.end += voice.Samples(n)
		pcm = pcm[n:]
	}
}

// read copies the audio from position at on into dst. It reports false if that is forgotten or not sent yet.
func (h *farEnd) read(at voice.Samples, dst []int16) bool {
	if at < 0 || at < h.end-FarEndKept || at+voice.Samples(len(dst)) > h.end {
		return false
	}
	n := copy(dst, h.ring[at%FarEndKept:])
	copy(dst[n:], h.ring)
	return true
}
