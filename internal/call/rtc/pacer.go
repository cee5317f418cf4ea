package rtc

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
)

// The pacer: sends one packet every 20 ms and reports what it has sent.

const (
	frameTime = 20 * time.Millisecond
	// catchUp is how late the pacer may be and still send the missing packets in a burst: a client's jitter buffer takes three
	// frames. When it is later, it leaves a gap in time, but not in the audio.
	catchUp = 3 * frameTime
	// wakeTime is the grid of the times at which all calls send. So the processor wakes up once for the packets of many calls.
	wakeTime = 5 * time.Millisecond
)

// track takes outgoing packets: a pion track, or one of a test.
type track interface {
	WriteRTP(p *rtp.Packet) error
}

// encoders lends encoders: an opus.Pool, or one of a test.
type encoders interface {
	Take() (opus.Encoding, error)
	Give(e opus.Encoding)
}

// Pacer sends one packet of the output every 20 ms of wall clock. Every deadline is the first one plus a whole number of frames,
// so that delays do not add up.
type Pacer struct {
	output   *Output
	track    track
	encoders encoders
	enc      opus.Encoding // borrowed while the agent speaks; nil else
	handler  link.Handler
	failed   func(err error) // is called with errors of the encoder

	packet  rtp.Packet
	pcm     [FrameSize]int16
	coded   []byte
	silent  []byte
	segment uint64 // the segment of the frame before, if that frame was voiced
	voiced  bool   // the frame before was voiced
	times   packetTimes

	stats paceStats
}

type paceStats struct {
	packets, bytes, late, skipped atomic.Uint64
}

// NewPacer returns a pacer that sends the output's packets over a track. A Peer runs it in real time. The simulator (e2e/world) calls Send instead.
func NewPacer(s *Output, t track, enc encoders, h link.Handler, failed func(error)) *Pacer {
	p := &Pacer{
		output: s, track: t, encoders: enc, handler: h, failed: failed,
		coded: make([]byte, opus.MaxBytes), silent: opus.SilentPacket(),
	}
	p.packet.Version = 2
	p.packet.SequenceNumber = uint16(rand.Uint32()) // random starts: RFC 3550 section 5.1
	return p
}

// run paces until stop is closed.
func (p *Pacer) run(stop <-chan struct{}) {
	defer p.giveEncoder()
	deadline := onGrid(time.Now())
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	for {
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		deadline = p.catchUp(deadline, time.Now())
		p.Send()
		deadline = deadline.Add(frameTime)
		timer.Reset(time.Until(deadline))
	}
}

// onGrid returns the first multiple of wakeTime at or after t.
func onGrid(t time.Time) time.Time {
	return t.Add((wakeTime - time.Duration(t.UnixNano())%wakeTime) % wakeTime)
}

// catchUp counts late frames and returns the deadline of the next packet: the given one, or a later one if the pacer is too late
// to catch up.
func (p *Pacer) catchUp(deadline, now time.Time) time.Time {
	late := now.Sub(deadline)
	if late > frameTime {
		p.stats.late.Add(1)
	}
	if late <= catchUp {
		return deadline
	}
	n := int(late / frameTime)
	p.stats.skipped.Add(uint64(n))
	p.output.skip(n)
	return deadline.Add(time.Duration(n) * frameTime)
}

// Send sends one frame and reports it to the handler. One goroutine calls it.
func (p *Pacer) Send() {
	f := p.output.next(&p.pcm)
	payload := p.encode(f)
	p.packet.Marker = f.voiced && !p.voiced
	p.packet.Timestamp = f.ts
	p.packet.SequenceNumber++
	p.packet.Payload = payload
	// A write fails while there is no transport, or while it closes. The audio's time passes nevertheless: the connection's state
	// tells the session that the client is away.
	p.times.add(p.packet.SequenceNumber, f.ts)
	if p.track.WriteRTP(&p.packet) == nil {
		p.stats.packets.Add(1)
		p.stats.bytes.Add(uint64(len(payload)))
	}
	p.segment, p.voiced = f.gen, f.voiced
	if f.voiced {
		p.handler.Sent(f.gen, f.sent, f.first)
	}
	if f.drained {
		p.handler.Drained(f.gen)
	}
}

// encode returns the frame's payload, valid until the next call.
func (p *Pacer) encode(f frame) []byte {
	follows := p.voiced && p.segment == f.gen
	switch {
	case f.voiced:
		if !follows {
			// The encoder may still hold audio of another segment, which must not be heard.
			p.giveEncoder()
		}
		return p.encodeFrame()
	case p.voiced && !f.cut:
		// The codec delays: one encoded frame of silence brings out the end of the frame before.
		clear(p.pcm[:])
		defer p.giveEncoder()
		return p.encodeFrame()
	}
	p.giveEncoder()
	return p.silent
}

// encodeFrame encodes pcm. It borrows an encoder, which has forgotten all earlier frames, if the pacer has none.
func (p *Pacer) encodeFrame() []byte {
	if p.enc == nil {
		enc, err := p.encoders.Take()
		if err != nil {
			p.failed(err)
			return p.silent
		}
		p.enc = enc
	}
	n, err := p.enc.Encode(p.pcm[:], p.coded)
	if err != nil {
		p.failed(err)
		return p.silent
	}
	return p.coded[:n]
}

// giveEncoder gives the encoder back, if the pacer has one.
func (p *Pacer) giveEncoder() {
	if p.enc != nil {
		p.encoders.Give(p.enc)
		p.enc = nil
	}
}
