package rtc

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/pion/rtp"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/outgoing"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
)

// The pacer: sends one packet every 20 ms and reports what it has sent.

const frameTime = outgoing.FrameTime

// track takes outgoing packets: a pion track, or one of a test.
type track interface {
	WriteRTP(p *rtp.Packet) error
}

// encoders lends encoders: an opus.Pool, or one of a test.
type encoders interface {
	Take() (opus.Encoding, error)
	Give(e opus.Encoding)
}

// Pacer sends one packet of the output every 20 ms of wall clock.
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
	packets, bytes atomic.Uint64
	clock          outgoing.Clock
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
	p.stats.clock.Run(stop, outgoing.Pace{Send: p.Send, Skip: p.output.skip})
}

// Send sends one frame and reports it to the handler. One goroutine calls it.
func (p *Pacer) Send() {
	f := p.output.next(&p.pcm)
	payload := p.encode(f)
	p.packet.Marker = f.Voiced && !p.voiced
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
	p.segment, p.voiced = f.Gen, f.Voiced
	if f.Voiced {
		p.handler.Sent(f.Gen, f.Sent, f.First)
	}
	if f.Drained {
		p.handler.Drained(f.Gen)
	}
}

// encode returns the frame's payload, valid until the next call.
func (p *Pacer) encode(f frame) []byte {
	follows := p.voiced && p.segment == f.Gen
	switch {
	case f.Voiced:
		if !follows {
			// The encoder may still hold audio of another segment, which must not be heard.
			p.giveEncoder()
		}
		return p.encodeFrame()
	case p.voiced && !f.Cut:
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
