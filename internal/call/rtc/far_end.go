package rtc

import "github.com/antiphon-rt/antiphon/internal/voice"

// The far-end history: keeps the last second of what was sent, so that the session can find its echo in incoming audio.

// farEndKept is how much of the sent audio is kept: 1 s.
const farEndKept = voice.Samples(Rate)

// farEndHistory is the audio that was sent last, silence included. Positions are samples since the call began.
type farEndHistory struct {
	ring []int16 // allocated with the first frame
	end  voice.Samples
}

func (h *farEndHistory) add(pcm []int16) {
	if h.ring == nil {
		h.ring = make([]int16, farEndKept)
	}
	for len(pcm) > 0 {
		n := copy(h.ring[h.end%farEndKept:], pcm)
		h.end += voice.Samples(n)
		pcm = pcm[n:]
	}
}

// read copies the audio from position at on into dst. It reports false if that is forgotten or not sent yet.
func (h *farEndHistory) read(at voice.Samples, dst []int16) bool {
	if at < 0 || at < h.end-farEndKept || at+voice.Samples(len(dst)) > h.end {
		return false
	}
	n := copy(dst, h.ring[at%farEndKept:])
	copy(dst[n:], h.ring)
	return true
}

// FarEndPosition implements link.FarEndReader.
func (o *Output) FarEndPosition() voice.Samples {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.farEnd.end
}

// ReadFarEnd implements link.FarEndReader. The last second is kept.
func (o *Output) ReadFarEnd(at voice.Samples, dst []int16) (ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.farEnd.read(at, dst)
}
