package rtc

import (
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"

	"github.com/antiphon-rt/antiphon/internal/call/incoming"
)

// The figures of a call: what was sent, received and lost.

// Stats is a snapshot of one call's figures since it began. Counts only grow.
type Stats struct {
	// Outgoing audio. Late frames went out more than one frame after their time. Skipped frames were never sent, because the
	// pacer was later than it catches up. AudioDropped counts the samples that the Output refused above MaxUnsent.
	PacketsSent, BytesSent    uint64
	LateFrames, SkippedFrames uint64
	AudioDropped              uint64

	// Incoming audio, after the jitter buffer. Lost packets never arrived, or arrived too late. SamplesConcealed counts the
	// samples that were made up for them, SamplesFilled the samples of silence in pauses of the stream. Garbled packets could
	// not be decoded. Refused packets came faster than real time allows.
	PacketsReceived, BytesReceived uint64
	PacketsLost                    uint64
	PacketsGarbled, PacketsRefused uint64
	SamplesConcealed               uint64
	SamplesFilled                  uint64
	// Jitter of the arrival times as RFC 3550 section 6.4.1 defines it.
	Jitter time.Duration

	// What the client reports about the outgoing audio (RTCP receiver reports).
	RemoteLost   uint64
	RemoteJitter time.Duration
	RoundTrip    time.Duration // the time to the client and back; 0 until it is measured

	// Events of the data channel.
	EventsSent, EventsReceived uint64
	EventsDropped              uint64 // because the offer had no data channel
}

// counts are the counters of a Peer. Any goroutine reads them.
type counts struct {
	received                                  incoming.Stats
	eventsSent, eventsReceived, eventsDropped atomic.Uint64
	remoteLost                                atomic.Uint64
	remoteJitter, roundTrip                   atomic.Int64 // time.Duration
}

// report notes what a client reports about the outgoing audio, the only stream that it gets.
func (c *counts) report(reports []rtcp.ReceptionReport, now time.Time) {
	for _, r := range reports {
		if d, ok := roundTrip(r, now); ok {
			c.roundTrip.Store(int64(d))
		}
		c.remoteLost.Store(uint64(r.TotalLost))
		c.remoteJitter.Store(int64(time.Duration(r.Jitter) * time.Second / 48_000))
	}
}

// report notes what the client reports about the outgoing audio.
func (p *Peer) report(reports []rtcp.ReceptionReport) {
	p.counts.report(reports, time.Now())
	p.reported(reports)
}

// roundTrip computes the round trip as RFC 3550 section 6.4.1 does: from the time of the server's last report and how long the
// client kept it. ok is false if the client has no report yet, or if the result cannot be true.
func roundTrip(r rtcp.ReceptionReport, now time.Time) (d time.Duration, ok bool) {
	const since1900 = 2_208_988_800 // to 1970, in seconds
	seconds, rest := uint64(now.Unix()+since1900), uint64(now.Nanosecond())<<16/uint64(time.Second)
	took := int32(uint32(seconds<<16|rest) - r.LastSenderReport - r.Delay) // in 1/65536 s
	d = max(time.Microsecond, time.Duration(took)*time.Second>>16)         // the rounding of two clocks may make it negative
	return d, r.LastSenderReport != 0 && d <= maxRoundTrip
}

// maxRoundTrip is longer than a conversation can bear: a longer round trip comes from a clock that jumped, or from a client that
// lies.
const maxRoundTrip = 5 * time.Second

// RoundTrip implements link.RoundTripper. It returns the last measurement.
func (p *Peer) RoundTrip() time.Duration { return time.Duration(p.counts.roundTrip.Load()) }

// Stats returns the call's figures so far. It reads them one by one while the call goes on, so they may differ by a packet.
func (p *Peer) Stats() Stats {
	c, in, out := &p.counts, &p.counts.received, &p.pacer.stats
	return Stats{
		PacketsSent: out.packets.Load(), BytesSent: out.bytes.Load(),
		LateFrames: out.clock.Late.Load(), SkippedFrames: out.clock.Skipped.Load(), AudioDropped: p.output.refusedSamples(),
		PacketsReceived: in.Packets.Load(), BytesReceived: in.Bytes.Load(),
		PacketsLost: in.Lost.Load(), PacketsGarbled: in.Garbled.Load(), PacketsRefused: in.Refused.Load(),
		SamplesConcealed: in.Concealed.Load(), SamplesFilled: in.Filled.Load(),
		Jitter:     time.Duration(in.Jitter.Load()),
		RemoteLost: c.remoteLost.Load(), RemoteJitter: time.Duration(c.remoteJitter.Load()), RoundTrip: p.RoundTrip(),
		EventsSent: c.eventsSent.Load(), EventsReceived: c.eventsReceived.Load(), EventsDropped: c.eventsDropped.Load(),
	}
}

// Add adds the counters of o to s. It leaves the figures of s that are no counters.
func (s *Stats) Add(o Stats) {
	for to, n := range map[*uint64]uint64{
		&s.PacketsSent: o.PacketsSent, &s.BytesSent: o.BytesSent, &s.LateFrames: o.LateFrames, &s.SkippedFrames: o.SkippedFrames,
		&s.AudioDropped: o.AudioDropped, &s.PacketsReceived: o.PacketsReceived, &s.BytesReceived: o.BytesReceived,
		&s.PacketsLost: o.PacketsLost, &s.PacketsGarbled: o.PacketsGarbled, &s.PacketsRefused: o.PacketsRefused,
		&s.SamplesConcealed: o.SamplesConcealed, &s.SamplesFilled: o.SamplesFilled, &s.RemoteLost: o.RemoteLost,
		&s.EventsSent: o.EventsSent, &s.EventsReceived: o.EventsReceived, &s.EventsDropped: o.EventsDropped,
	} {
		*to += n
	}
}

// Stats returns the counters of all calls since the start.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.past
	for p := range e.peers {
		all.Add(p.Stats())
	}
	return all
}
