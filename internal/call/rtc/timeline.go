package rtc

import (
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// The timeline of the outgoing audio: remembers which part of which response was sent under which RTP timestamp.

// timelineKept is 10 s of speech in frames. A client lags behind by less, and a barge-in takes less.
const timelineKept = 500

// timeline spans responses: it knows the last timelineKept frames of speech, also those of a response that was dropped.
type timeline struct {
	ring []timelineEntry // at most timelineKept; allocated with the first entry
	next int             // index of the next entry once the ring is full
}

// timelineEntry is a frame of speech, or the beginning of a segment.
type timelineEntry struct {
	ts  uint32
	n   uint32 // samples of speech in the frame, followed by silence; 0 for the beginning of a segment
	gen uint64
	pos voice.Samples // the position in the response at ts
}

func (t *timeline) add(ts uint32, gen uint64, pos voice.Samples, n int) {
	e := timelineEntry{ts: ts, n: uint32(n), gen: gen, pos: pos}
	if len(t.ring) < timelineKept {
		t.ring = append(t.ring, e)
		return
	}
	t.ring[t.next] = e
	t.next = (t.next + 1) % timelineKept
}

// at returns what a client plays at timestamp ts; sent is the timestamp after everything that was sent. ok is false if that is
// forgotten. The position is that of the last frame that began at or before ts.
//
// Timestamps wrap around, so at compares them by their distance (RFC 1982). The ring spans far less than half of the circle
// unless a call is silent for hours, and then nobody asks for its frames any more. At sent itself no silence has begun,
// because what comes next is not known.
func (t *timeline) at(ts, sent uint32) (found link.Position, ok bool) {
	var after *timelineEntry
	for i := len(t.ring) - 1; i >= 0; i-- {
		e := &t.ring[(t.next+i)%len(t.ring)]
		if since := int32(ts - e.ts); since >= 0 {
			found = link.Position{Gen: e.gen, At: e.pos + voice.Samples(min(uint32(since)/ticksPerSample, e.n))}
			return withSilence(found, after, e.n == 0 || since > frameTicks || since == frameTicks && ts != sent), true
		}
		after = e
	}
	return withSilence(found, after, true), len(t.ring) < timelineKept
}

// withSilence returns p with Silent set. In a silence it adds the segment that is audible after it, if one was sent.
func withSilence(p link.Position, after *timelineEntry, silent bool) link.Position {
	p.Silent = silent
	if silent && after != nil {
		p.NextGen, p.Next = after.gen, after.pos
	}
	return p
}
