package rtc

import (
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"
)

// Stats is a snapshot of one call's figures since it began. Counts only grow.
type Stats struct {
	// Outgoing audio. Late frames went out more than one frame after their time; skipped ones never
	// did, because the pacer was held up for longer than it catches up. AudioDropped are samples that a
	// Speaker refused above MaxUnsent.
	PacketsSent, BytesSent    uint64
	LateFrames, SkippedFrames uint64
	AudioDropped              uint64

	// Incoming audio, after ordering. Lost packets never came or came too late; Concealed are the
	// samples that were made up for them and Filled those of silence in pauses of the stream. Garbled
	// packets could not be decoded; refused ones came faster than anybody speaks.
	PacketsReceived, BytesReceived uint64
	PacketsLost                    uint64
	PacketsGarbled, PacketsRefused uint64
	SamplesConcealed               uint64
	SamplesFilled                  uint64
	// Jitter of the arrival times as RFC 3550 section 6.4.1 defines it.
	Jitter time.Duration

	// What the client reports about our audio (RTCP receiver reports).
	RemoteLost   uint64
	RemoteJitter time.Duration

	// Events of the data channel.
	EventsSent, EventsReceived uint64
	EventsDropped              uint64 // an offer without a data channel: nobody to send them to
}

// counts are what a Peer counts as it goes.
type counts struct {
	intake                                    intakeStats
	eventsSent, eventsReceived, eventsDropped atomic.Uint64
	remoteLost                                atomic.Uint64
	remoteJitter                              atomic.Int64 // time.Duration
}

// report notes what a client says about our stream, the only one it gets.
func (c *counts) report(reports []rtcp.ReceptionReport) {
	for _, r := range reports {
		c.remoteLost.Store(uint64(r.TotalLost))
		c.remoteJitter.Store(int64(time.Duration(r.Jitter) * time.Second / 48_000))
	}
}

// Stats returns the call's figures so far. They are read one by one while the call goes on, so they may be a packet
// apart from each other.
func (p *Peer) Stats() Stats {
	c, in, out := &p.counts, &p.counts.intake, &p.pacer.stats
	return Stats{
		PacketsSent: out.packets.Load(), BytesSent: out.bytes.Load(),
		LateFrames: out.late.Load(), SkippedFrames: out.skipped.Load(), AudioDropped: p.speaker.refused(),
		PacketsReceived: in.packets.Load(), BytesReceived: in.bytes.Load(),
		PacketsLost: in.lost.Load(), PacketsGarbled: in.garbled.Load(), PacketsRefused: in.refused.Load(),
		SamplesConcealed: in.concealed.Load(), SamplesFilled: in.filled.Load(),
		Jitter:     time.Duration(in.jitter.Load()),
		RemoteLost: c.remoteLost.Load(), RemoteJitter: time.Duration(c.remoteJitter.Load()),
		EventsSent: c.eventsSent.Load(), EventsReceived: c.eventsReceived.Load(), EventsDropped: c.eventsDropped.Load(),
	}
}
