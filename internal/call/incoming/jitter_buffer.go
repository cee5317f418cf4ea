package incoming

import "time"

// The jitter buffer: puts RTP packets into the order of their sequence numbers and reports which are lost.

const (
	// jitterDepth and jitterWait bound how long a packet waits for an earlier one: 5 packets or 60 ms. Packets that come later are
	// dropped: waiting for them would cost more than they are worth.
	jitterDepth = 5
	jitterWait  = 60 * time.Millisecond
	// restart is the jump of sequence numbers beyond which the sender has begun a new stream. RFC 3550 appendix A.1 has 3000 for
	// any media; this is 10 s of 20 ms packets.
	restart = 500
	// restartRun is how many packets in a row, each with the number after the one before, show that a sender has restarted its numbers a
	// little backwards. RFC 3550 appendix A.1 takes two; a network that holds packets back brings more of them in order.
	restartRun = 5
	// fresh stands for the number of lost packets where a stream begins.
	fresh = -1
)

// Packet is one RTP packet of the client's audio.
type Packet struct {
	Seq     uint16
	TS      uint32 // in ticks of the 48 kHz RTP clock
	Payload []byte
	At      time.Time // when it arrived
}

// jitterBuffer orders packets. It has no clock: the time comes with the packets, and wake says when it wants to be asked again. It
// belongs to one goroutine.
type jitterBuffer struct {
	next    uint16 // the sequence number that is due; valid when started
	started bool
	held    []Packet // packets after next, in order; at most jitterDepth
	spare   [][]byte // memory of their payloads, for reuse
	run     []Packet // the last packets whose turn had passed, if each follows the one before; at most restartRun
}

// push takes a packet, whose payload the caller may reuse afterwards. It calls out for every packet whose turn has come, with
// the number of packets lost before it, or fresh. out must not keep the payload.
func (b *jitterBuffer) push(p Packet, out func(p Packet, lost int)) {
	ahead := int16(p.Seq - b.next)
	if ahead < 0 && ahead > -restart && b.started {
		b.tooLate(p, out)
		return
	}
	b.run = b.run[:0]
	switch {
	case !b.started || ahead >= restart || ahead <= -restart:
		b.begin(p, out)
	case ahead == 0:
		b.next++
		out(p, 0)
	default:
		b.hold(p)
		if len(b.held) == jitterDepth {
			b.skip(out)
		}
	}
	b.drain(out)
}

// begin releases what is held, and begins a new stream with p.
func (b *jitterBuffer) begin(p Packet, out func(p Packet, lost int)) {
	b.flush(out)
	b.started = true
	b.next = p.Seq + 1
	out(p, fresh)
}

// tooLate takes a packet whose turn has passed. It drops the packet, unless a run of such packets shows that the sender has restarted its
// numbers: then the run begins a new stream.
func (b *jitterBuffer) tooLate(p Packet, out func(p Packet, lost int)) {
	if n := len(b.run); n > 0 && b.run[n-1].Seq+1 != p.Seq {
		b.run = b.run[:0]
	}
	p.Payload = append([]byte(nil), p.Payload...)
	if b.run = append(b.run, p); len(b.run) < restartRun {
		return
	}
	b.begin(b.run[0], out)
	for _, next := range b.run[1:] {
		b.next++
		out(next, 0)
	}
	b.run = nil
}

// expire gives up packets for which later ones have waited long enough at the time now.
func (b *jitterBuffer) expire(now time.Time, out func(p Packet, lost int)) {
	for {
		wake, ok := b.wake()
		if !ok || wake.After(now) {
			return
		}
		b.skip(out)
		b.drain(out)
	}
}

// wake returns when expire has something to do. ok is false if no packet waits.
func (b *jitterBuffer) wake() (wake time.Time, ok bool) {
	if len(b.held) == 0 {
		return time.Time{}, false
	}
	first := b.held[0].At
	for _, p := range b.held[1:] {
		if p.At.Before(first) {
			first = p.At
		}
	}
	return first.Add(jitterWait), true
}

// extend lets the packets that are held wait for so much longer.
func (b *jitterBuffer) extend(by time.Duration) {
	for i := range b.held {
		b.held[i].At = b.held[i].At.Add(by)
	}
}

// hold keeps a copy of p in its place. It does not keep the same packet twice.
func (b *jitterBuffer) hold(p Packet) {
	i := len(b.held)
	for i > 0 && int16(p.Seq-b.held[i-1].Seq) <= 0 {
		i--
	}
	if i < len(b.held) && b.held[i].Seq == p.Seq {
		return
	}
	var room []byte
	if n := len(b.spare); n > 0 {
		room, b.spare = b.spare[n-1], b.spare[:n-1]
	}
	p.Payload = append(room[:0], p.Payload...)
	b.held = append(b.held, Packet{})
	copy(b.held[i+1:], b.held[i:])
	b.held[i] = p
}

// skip gives up the packets missing before the first one held, and releases that one.
func (b *jitterBuffer) skip(out func(p Packet, lost int)) {
	p := b.held[0]
	b.release(p, int(p.Seq-b.next), out)
}

// drain releases the held packets whose turn has come.
func (b *jitterBuffer) drain(out func(p Packet, lost int)) {
	for len(b.held) > 0 && b.held[0].Seq == b.next {
		b.release(b.held[0], 0, out)
	}
}

// flush releases all held packets.
func (b *jitterBuffer) flush(out func(p Packet, lost int)) {
	for len(b.held) > 0 {
		b.skip(out)
	}
}

// release passes p, the first packet held, to out.
func (b *jitterBuffer) release(p Packet, lost int, out func(p Packet, lost int)) {
	copy(b.held, b.held[1:])
	b.held[len(b.held)-1] = Packet{}
	b.held = b.held[:len(b.held)-1]
	b.next = p.Seq + 1
	out(p, lost)
	b.spare = append(b.spare, p.Payload)
}
