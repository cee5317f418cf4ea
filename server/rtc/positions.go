package rtc

import (
	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/voice"
)

// positionsKept is 10 s of speech: more than a client lags behind, and than an interruption takes.
const positionsKept = 500

// positions remembers which part of which reply went out under which RTP timestamp. It spans replies: what was sent of one
// that was dropped is known as long as the speech after it leaves room.
type positions struct {
	ring []position // at most positionsKept; allocated with the first
	next int        // where the next goes once the ring is full
}

type position struct {
	ts  uint32
	n   uint32 // samples in the frame; the rest of it was silence. 0 is no frame: the segment began there
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
// and then the frame is too old to be asked for. The end of what was sent is in no silence: what comes next is not known. ok is false for
// what was forgotten.
func (p *positions) at(ts, sent uint32) (found call.Position, ok bool) {
	var after *position
	for i := len(p.ring) - 1; i >= 0; i-- {
		e := &p.ring[(p.next+i)%len(p.ring)]
		if since := int32(ts - e.ts); since >= 0 {
			found = call.Position{Gen: e.gen, At: e.pos + voice.Samples(min(uint32(since)/ticksPerSample, e.n))}
			return before(found, after, e.n == 0 || since > frameTicks || since == frameTicks && ts != sent), true
		}
		after = e
	}
	return before(found, after, true), len(p.ring) < positionsKept
}

// before returns p with Silent set. In a silence it adds the segment that is audible after it, if one was sent.
func before(p call.Position, after *position, silent bool) call.Position {
	p.Silent = silent
	if silent && after != nil {
		p.NextGen, p.Next = after.gen, after.pos
	}
	return p
}
