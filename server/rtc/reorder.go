package rtc

import "time"

const (
	// reorderDepth and reorderWait bound how long a packet waits for an earlier one: 5 packets or 60 ms. What comes
	// later than that is not missed less than the delay would be.
	reorderDepth = 5
	reorderWait  = 60 * time.Millisecond
	// restart is a jump of sequence numbers beyond which the sender has begun anew (RFC 3550 appendix A.1 has 3000
	// for any media; this is 10 s of 20 ms packets).
	restart = 500
	// fresh stands in for the number of lost packets where a stream begins or begins anew.
	fresh = -1
)

// voicePacket is one RTP packet of the caller's voice.
type voicePacket struct {
	seq     uint16
	ts      uint32
	payload []byte
	at      time.Time // when it came
}

// reorder puts packets into the order of their sequence numbers. It has no clock: the time comes with the packets, and
// wake says when it wants to be asked again. It belongs to one goroutine.
type reorder struct {
	next    uint16 // the number that is due; valid when started
	started bool
	held    []voicePacket // later ones, in order; at most reorderDepth
	spare   [][]byte      // their payloads' memory, for reuse
	late    uint64        // packets that came after they had been given up, or twice
}

// push takes a packet, whose payload is the caller's again afterwards, and calls out for every packet that is in
// turn now, with the number of packets lost before it, or fresh. out must not keep the payload.
func (r *reorder) push(p voicePacket, out func(p voicePacket, lost int)) {
	ahead := int16(p.seq - r.next)
	switch {
	case !r.started || ahead >= restart || ahead <= -restart:
		r.giveUp(out)
		r.started = true
		r.next = p.seq + 1
		out(p, fresh)
	case ahead < 0:
		r.late++
	case ahead == 0:
		r.next++
		out(p, 0)
	default:
		r.hold(p)
		if len(r.held) == reorderDepth {
			r.skip(out)
		}
	}
	r.drain(out)
}

// expire gives up packets that have been waited for long enough at the time now.
func (r *reorder) expire(now time.Time, out func(p voicePacket, lost int)) {
	for {
		wake, ok := r.wake()
		if !ok || wake.After(now) {
			return
		}
		r.skip(out)
		r.drain(out)
	}
}

// wake returns when expire has something to do; ok is false when nothing waits.
func (r *reorder) wake() (wake time.Time, ok bool) {
	if len(r.held) == 0 {
		return time.Time{}, false
	}
	first := r.held[0].at
	for _, p := range r.held[1:] {
		if p.at.Before(first) {
			first = p.at
		}
	}
	return first.Add(reorderWait), true
}

// overslept gives the packets that are waited for so much more time.
func (r *reorder) overslept(by time.Duration) {
	for i := range r.held {
		r.held[i].at = r.held[i].at.Add(by)
	}
}

// hold keeps a copy of p in its place. A packet that is there already is not kept twice.
func (r *reorder) hold(p voicePacket) {
	i := len(r.held)
	for i > 0 && int16(p.seq-r.held[i-1].seq) <= 0 {
		i--
	}
	if i < len(r.held) && r.held[i].seq == p.seq {
		r.late++
		return
	}
	var room []byte
	if n := len(r.spare); n > 0 {
		room, r.spare = r.spare[n-1], r.spare[:n-1]
	}
	p.payload = append(room[:0], p.payload...)
	r.held = append(r.held, voicePacket{})
	copy(r.held[i+1:], r.held[i:])
	r.held[i] = p
}

// skip gives up what is missing before the first packet held, and gives that one out.
func (r *reorder) skip(out func(p voicePacket, lost int)) {
	p := r.held[0]
	lost := int(p.seq - r.next)
	r.release(p, lost, out)
}

// drain gives out the packets held that are in turn.
func (r *reorder) drain(out func(p voicePacket, lost int)) {
	for len(r.held) > 0 && r.held[0].seq == r.next {
		r.release(r.held[0], 0, out)
	}
}

// giveUp gives out all that is held.
func (r *reorder) giveUp(out func(p voicePacket, lost int)) {
	for len(r.held) > 0 {
		r.skip(out)
	}
}

func (r *reorder) release(p voicePacket, lost int, out func(p voicePacket, lost int)) {
	copy(r.held, r.held[1:])
	r.held[len(r.held)-1] = voicePacket{}
	r.held = r.held[:len(r.held)-1]
	r.next = p.seq + 1
	out(p, lost)
	r.spare = append(r.spare, p.payload)
}
