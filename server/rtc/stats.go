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
	// Output refused above MaxUnsent.
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
	RoundTrip    time.Duration // to the client and back; 0 until it is measured

	// Events of the data channel.
	EventsSent, EventsReceived uint64
	EventsDropped              uint64 // an offer without a data channel: nobody to send them to
}

// counts are what a Peer counts as it goes.
type counts struct {
	intake                                    intakeStats
	eventsSent, eventsReceived, eventsDropped atomic.Uint64
	remoteLost                                atomic.Uint64
	remoteJitter, roundTrip                   atomic.Int64 // time.Duration
}

// report notes what a client says about our stream, the only one it gets.
func (c *counts) report(reports []rtcp.ReceptionReport, now time.Time) {
	for _, r := range reports {
		if d, ok := roundTrip(r, now); ok {
			c.roundTrip.Store(int64(d))
		}
		c.remoteLost.Store(uint64(r.TotalLost))
		c.remoteJitter.Store(int64(time.Duration(r.Jitter) * time.Second / 48_000))
	}
}

// roundTrip is what RFC 3550 section 6.4.1 makes of the time of our last report and of how long the client kept it. ok is
// false where it has none yet, or says what cannot be.
func roundTrip(r rtcp.ReceptionReport, now time.Time) (d time.Duration, ok bool) {
	const since1900 = 2_208_988_800 // to 1970, in seconds
	seconds, rest := uint64(now.Unix()+since1900), uint64(now.Nanosecond())<<16/uint64(time.Second)
	took := int32(uint32(seconds<<16|rest) - r.LastSenderReport - r.Delay) // in 1/65536 s
	d = max(time.Microsecond, time.Duration(took)*time.Second>>16)         // two clocks' rounding may make it less than nothing
	return d, r.LastSenderReport != 0 && d <= maxRoundTrip
}

// maxRoundTrip is more than any call can be held with: a longer one is a clock that jumped, or a client that makes it up.
const maxRoundTrip = 5 * time.Second

// RoundTrip is the time to the client and back, as it was measured last; 0 until then.
func (p *Peer) RoundTrip() time.Duration { return time.Duration(p.counts.roundTrip.Load()) }

// Stats returns the call's figures so far. They are read one by one while the call goes on, so they may be a packet
// apart from each other.
func (p *Peer) Stats() Stats {
	c, in, out := &p.counts, &p.counts.intake, &p.pacer.stats
	return Stats{
		PacketsSent: out.packets.Load(), BytesSent: out.bytes.Load(),
		LateFrames: out.late.Load(), SkippedFrames: out.skipped.Load(), AudioDropped: p.output.refused(),
		PacketsReceived: in.packets.Load(), BytesReceived: in.bytes.Load(),
		PacketsLost: in.lost.Load(), PacketsGarbled: in.garbled.Load(), PacketsRefused: in.refused.Load(),
		SamplesConcealed: in.concealed.Load(), SamplesFilled: in.filled.Load(),
		Jitter:     time.Duration(in.jitter.Load()),
		RemoteLost: c.remoteLost.Load(), RemoteJitter: time.Duration(c.remoteJitter.Load()), RoundTrip: p.RoundTrip(),
		EventsSent: c.eventsSent.Load(), EventsReceived: c.eventsReceived.Load(), EventsDropped: c.eventsDropped.Load(),
	}
}
