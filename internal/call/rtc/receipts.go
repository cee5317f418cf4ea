package rtc

import (
	"sync"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/hangup"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// Receipts: what the client has provably received of the outgoing audio. After a cut of the network the rest is sent again. Two things
// prove a receipt. A receiver report names the last packet that arrived (RFC 3550 section 6.4). The answer to a connectivity check
// proves that the path worked when the check was sent, and so that the packets before it arrived.

const (
	// maxCheckAge is the age of the oldest answered check that still counts.
	maxCheckAge = time.Minute
	// margin is how much earlier than a check a packet must have been sent to count as received: the pacer may be late by catchUp, and
	// packets may overtake each other.
	margin = 100 * time.Millisecond
	// cutMargin is margin for a short cut. No check proves its beginning, and the packets of both directions may be on their way for
	// different times.
	cutMargin = 300 * time.Millisecond
	// statsTime bounds the question to pion when the last check was answered.
	statsTime = 500 * time.Millisecond

	// A short cut: at least shortCut without a packet of the client, and packets of that time are lost and not only late. A client
	// that sends nothing while its user is silent numbers its packets without a gap. A client whose machine is busy sends fewer packets
	// than one each frameTime, so lostPackets is a third of those that belong into shortCut. Where all packets of shortCut are lost, the time
	// between the other packets does not count: this machine may be busy, and read the packets before and after the cut together.
	shortCut    = 300 * time.Millisecond
	lostPackets = uint16(shortCut / frameTime / 3)
	// maxGap is how many packets may be missing in a gap: a larger gap is a new numbering.
	maxGap = 3000
)

// receipts belongs to the output and is guarded by its lock.
type receipts struct {
	upTo uint32 // the client has received the packets before this RTP timestamp
	cut  bool   // the network was cut: the receipt of a later packet proves nothing about the packets before it
}

// Received notes that the client has received all packets before RTP timestamp ts.
func (o *Output) Received(ts uint32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.receipts.cut && int32(ts-o.receipts.upTo) > 0 && int32(o.nextTS-ts) >= 0 {
		o.receipts.upTo = ts
	}
}

// cut notes that the network was cut: packets that have not been received by now may be lost. It returns at once.
func (o *Output) cut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.receipts.cut = true
}

// CutSince notes that the network was cut, and that the cut began at most ago: packets sent since then may be lost, although later ones were received.
func (o *Output) CutSince(ago time.Duration) {
	since := o.sentBefore(ago)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.receipts.cut = true
	if int32(o.receipts.upTo-since) > 0 {
		o.receipts.upTo = since
	}
}

// sentBefore returns the RTP timestamp of the first packet that was not sent yet some time ago. ago is at most maxCheckAge.
func (o *Output) sentBefore(ago time.Duration) uint32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	ticks := uint32(min(ago, maxCheckAge) / time.Millisecond * 48)
	if ticks > o.nextTS-o.startTS {
		return o.startTS
	}
	return o.nextTS - ticks
}

// Missed implements link.Receipts.
func (o *Output) Missed(since uint64) (from voice.Samples, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.receipts.cut = false
	return o.timeline.missed(o.receipts.upTo, since)
}

// missed returns the earliest position of the segments from since on that was sent at timestamp upTo or later. ok is false if nothing of
// them was sent then.
func (t *timeline) missed(upTo uint32, since uint64) (from voice.Samples, ok bool) {
	for _, e := range t.ring {
		if e.n == 0 || e.gen < since || int32(e.ts-upTo) < 0 {
			continue
		}
		if !ok || e.pos < from {
			from, ok = e.pos, true
		}
	}
	return from, ok
}

// packetTimes remembers the RTP timestamps of the packets that were sent last: 10 s of packets.
type packetTimes struct {
	mu     sync.Mutex
	ts     [512]uint32 // by the lowest bits of the sequence number
	sent   int         // how many packets were sent
	newest uint16      // the sequence number of the last one
}

func (p *packetTimes) add(seq uint16, ts uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ts[int(seq)%len(p.ts)] = ts
	p.newest = seq
	p.sent++
}

// of returns the timestamp of the packet with sequence number seq. ok is false if that was not sent, or is forgotten.
func (p *packetTimes) of(seq uint16) (ts uint32, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ago := int(p.newest - seq)
	return p.ts[int(seq)%len(p.ts)], ago < min(p.sent, len(p.ts))
}

// reported notes the receipts in a client's reports.
func (p *Peer) reported(reports []rtcp.ReceptionReport) {
	for _, r := range reports {
		if ts, ok := p.pacer.times.of(uint16(r.LastSequenceNumber)); ok {
			p.output.Received(ts + frameTicks)
		}
	}
}

// pathLost notes what the client has received over a path that carries nothing any more.
func (p *Peer) pathLost() {
	hangup.Within(statsTime, func() {
		if age, ok := lastAnswered(p.pc.GetStats(), time.Now()); ok {
			p.output.Received(p.output.sentBefore(age + margin))
		}
	})
	p.output.cut()
}

// lastAnswered returns how long before now the last connectivity check was sent that the client has answered on the path of the call.
func lastAnswered(stats webrtc.StatsReport, now time.Time) (age time.Duration, ok bool) {
	for _, s := range stats {
		pair, is := s.(webrtc.ICECandidatePairStats)
		if !is || !pair.Nominated || pair.ResponsesReceived == 0 {
			continue
		}
		trip := time.Duration(pair.CurrentRoundTripTime * float64(time.Second))
		since := now.Round(0).Sub(pair.LastResponseTimestamp.Time()) + trip // a negative time comes from a clock that jumped
		if since >= 0 && since <= maxCheckAge && (!ok || since < age) {
			age, ok = since, true
		}
	}
	return age, ok
}

// arrivals knows the last packet of one stream of the client.
type arrivals struct {
	any bool
	seq uint16
	at  time.Time
	cut time.Time // when next has returned a cut
}

// next notes a packet that was read at a time. It returns how long no packet has come before it, if those of that time are lost; 0 otherwise. It
// returns one cut each shortCut at most.
func (a *arrivals) next(seq uint16, at time.Time) (cut time.Duration) {
	gap, quiet := seq-a.seq, at.Sub(a.at)
	lost := time.Duration(gap-1) * frameTime
	if a.any && gap < maxGap && (quiet >= shortCut && gap > lostPackets || lost >= shortCut) && at.Sub(a.cut) >= shortCut {
		cut, a.cut = max(quiet, lost), at
	}
	if !a.any || int16(gap) > 0 {
		a.any, a.seq, a.at = true, seq, at
	}
	return cut
}
