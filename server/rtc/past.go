package rtc

import "github.com/antiphon-rt/antiphon/voice"

// pastKept is how much of what went out is kept to be compared with what comes in: 1 s.
const pastKept = voice.Samples(Rate)

// past is what went out last, silence included. Positions are samples since the call began.
type past struct {
	ring []int16 // allocated with the first frame
	end  voice.Samples
}

func (p *past) add(pcm []int16) {
	if p.ring == nil {
		p.ring = make([]int16, pastKept)
	}
	for _, x := range pcm {
		p.ring[p.end%pastKept] = x
		p.end++
	}
}

func (p *past) read(at voice.Samples, dst []int16) bool {
	if at < 0 || at < p.end-pastKept || at+voice.Samples(len(dst)) > p.end {
		return false
	}
	for i := range dst {
		dst[i] = p.ring[(at+voice.Samples(i))%pastKept]
	}
	return true
}

// FarEndPosition returns how much has gone out since the call began, silence included, in samples at Rate.
func (s *Output) FarEndPosition() voice.Samples {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.past.end
}

// ReadFarEnd copies what went out from position at of FarEndPosition on into dst; ok is false where that is more than a second ago, or
// has not gone out yet.
func (s *Output) ReadFarEnd(at voice.Samples, dst []int16) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.past.read(at, dst)
}
