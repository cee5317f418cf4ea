package rtc

import "github.com/antiphon-rt/antiphon/voice"

// positionsKept is 10 s of speech: more than a client lags behind.
const positionsKept = 500

// positions remembers which part of which reply went out under which RTP timestamp.
type positions struct {
	ring []position // at most positionsKept; allocated with the first
	next int        // where the next goes once the ring is full
}

type position struct {
	ts  uint32
	n   uint32 // samples in the frame; the rest of it was silence
	gen uint64
	pos voice.Samples
}

func (p *positions) add(ts uint32, gen uint64, pos voice.Samples, n int) {
	e := position{ts: ts, n: uint32(n), gen: gen, pos: pos}
	if len(p.ring) < positionsKept {
		p.ring = append(p.ring, e)
		return
	}
	p.ring[p.next] = e
	p.next = (p.next + 1) % positionsKept
}

// at finds the last frame that began at or before ts. Timestamps wrap around, so they compare by their
// distance (RFC 1982); the ring spans far less than half the circle unless a call is silent for hours,
// and then the frame is too old to be asked for.
func (p *positions) at(ts uint32) (gen uint64, pos voice.Samples, ok bool) {
	for i := len(p.ring) - 1; i >= 0; i-- {
		e := p.ring[(p.next+i)%len(p.ring)]
		if since := int32(ts - e.ts); since >= 0 {
			return e.gen, e.pos + voice.Samples(min(uint32(since)/ticksPerSample, e.n)), true
		}
	}
	return 0, 0, false
}
