package rtc

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/voice"
)

const (
	// maxFill bounds the audio made up for one gap: 2 s are more silence than any turn waits for.
	maxFill = voice.Samples(2 * Rate)
	// maxConceal bounds how much of a gap the codec makes up; after 100 ms it hums, and silence is better.
	maxConceal = voice.Samples(Rate / 10)
	// pauseSlack is how late a packet may be before a pause that was announced (DTX) is filled.
	pauseSlack = 40 * time.Millisecond
	// stallSlack is how late one may be when no pause was announced: the caller has taken the microphone away, or
	// the network is stuck.
	stallSlack = 500 * time.Millisecond
	// pauseBytes: an Opus packet of at most two bytes says that its sender stops sending for a while
	// (RFC 7587 section 3.1.3; browsers send nothing then but a packet every 400 ms).
	pauseBytes = 2
)

// intake makes one unbroken stream of PCM from the caller's packets: in order, losses concealed, pauses filled with
// silence as they pass, so that whoever listens has a clock in the audio. It has no clock of its own: the time comes
// with the calls. It belongs to one goroutine.
type intake struct {
	order reorder
	dec   decoder
	emit  func(pcm []int16)
	pcm   []int16
	quiet []int16 // one frame of silence
	stats *intakeStats

	running bool
	due     uint32        // the RTP timestamp that continues what was emitted, but for ahead
	frame   voice.Samples // length of the last packet
	ahead   voice.Samples // silence emitted beyond due, because nothing came
	last    time.Time     // when the last packet came
	pause   bool          // the last packet announced a pause

	arrival   arrival
	allowance allowance
}

// intakeStats are written by the intake and read by anyone.
type intakeStats struct {
	packets, bytes, lost, garbled, refused atomic.Uint64
	concealed, filled                      atomic.Uint64
	jitter                                 atomic.Int64 // time.Duration
}

func newIntake(dec decoder, stats *intakeStats, emit func(pcm []int16)) *intake {
	return &intake{
		dec: dec, emit: emit, stats: stats, frame: FrameSize,
		pcm: make([]int16, maxPacket), quiet: make([]int16, FrameSize),
	}
}

// push takes a packet as it comes from the network. The payload is the caller's again afterwards.
func (in *intake) push(p voicePacket) {
	in.stats.packets.Add(1)
	in.stats.bytes.Add(uint64(len(p.payload)))
	in.stats.jitter.Store(int64(in.arrival.add(p)))
	in.allowance.refill(p.at)
	in.order.push(p, in.play)
}

// tick does what is due at the time now without a packet.
func (in *intake) tick(now time.Time) {
	in.allowance.refill(now)
	in.order.expire(now, in.play)
	for in.running && in.ahead < maxFill && !in.fillDue().After(now) {
		in.silence(FrameSize)
		in.ahead += FrameSize
	}
}

// wake returns when tick has something to do; ok is false when only a packet can bring it.
func (in *intake) wake() (wake time.Time, ok bool) {
	wake, ok = in.order.wake()
	if in.running && in.ahead < maxFill {
		if fill := in.fillDue(); !ok || fill.Before(wake) {
			wake, ok = fill, true
		}
	}
	return wake, ok
}

// overslept says that this machine was busy for so long: what the caller has sent meanwhile is still to be read, for which
// there is a moment more, so nothing is late yet.
func (in *intake) overslept(by time.Duration) {
	by += reorderWait
	in.last = in.last.Add(by)
	in.order.overslept(by)
}

// fillDue returns when the next frame of silence is due: once the packet that should be there is late, and then every
// 20 ms.
func (in *intake) fillDue() time.Time {
	slack := stallSlack
	if in.pause || in.ahead > 0 {
		slack = pauseSlack
	}
	return in.last.Add(slack + duration(in.ahead+FrameSize))
}

// play emits what is missing before a packet, and the packet. lost is fresh for one that begins a new stream.
func (in *intake) play(p voicePacket, lost int) {
	in.stats.lost.Add(uint64(max(lost, 0)))
	if len(p.payload) == 0 {
		return // padding: it has a number and no audio
	}
	if gap := int32(p.ts - in.due); in.running && lost != fresh && gap > 0 {
		in.bridge(voice.Samples(gap/ticksPerSample)-in.ahead, lost, p.payload)
	}
	if !in.allowance.take(in.frame) {
		in.stats.refused.Add(1)
		return
	}
	n, err := in.dec.Decode(p.payload, in.pcm)
	if err != nil {
		// Its length is unknown, so that of the one before is taken for it.
		in.stats.garbled.Add(1)
		n = int(in.frame)
		in.conceal(in.pcm[:n])
	}
	in.emit(in.pcm[:n])
	in.running = true
	in.due = p.ts + uint32(n)*ticksPerSample
	in.frame, in.ahead, in.last = voice.Samples(n), 0, p.at
	in.pause = len(p.payload) <= pauseBytes
}

// bridge emits what stands in for a gap before the packet next. Only what was lost is concealed: where nothing was, the
// caller paused.
func (in *intake) bridge(gap voice.Samples, lost int, next []byte) {
	gap = min(gap, maxFill-in.ahead)
	conceal := min(gap, voice.Samples(lost)*in.frame, maxConceal)
	gap -= conceal
	for conceal > 0 {
		n := min(conceal, FrameSize)
		pcm := in.pcm[:n]
		// The packet next carries the one before it, if it carries redundancy at all.
		if n != conceal || gap > 0 || n != in.frame || !in.dec.Recover(next, pcm) {
			in.conceal(pcm)
		}
		if in.allowance.take(n) {
			in.stats.concealed.Add(uint64(n))
			in.emit(pcm)
		}
		conceal -= n
	}
	for gap > 0 {
		n := min(gap, FrameSize)
		in.silence(int(n))
		gap -= n
	}
}

// conceal makes up pcm; if even that fails, it is silence.
func (in *intake) conceal(pcm []int16) {
	for len(pcm) > 0 {
		n := min(len(pcm), FrameSize)
		if in.dec.Conceal(pcm[:n]) != nil {
			clear(pcm[:n])
		}
		pcm = pcm[n:]
	}
}

func (in *intake) silence(n int) {
	if !in.allowance.take(voice.Samples(n)) {
		return
	}
	clear(in.quiet) // the listener may have written to it
	in.stats.filled.Add(uint64(n))
	in.emit(in.quiet[:n])
}

// duration is the time that n samples last.
func duration(n voice.Samples) time.Duration {
	return time.Duration(n) * time.Second / Rate
}

// arrival estimates jitter as RFC 3550 section 6.4.1 does.
type arrival struct {
	seen   bool
	at     time.Time
	ts     uint32
	jitter float64 // in RTP ticks
}

func (a *arrival) add(p voicePacket) time.Duration {
	if a.seen {
		d := p.at.Sub(a.at).Seconds()*48_000 - float64(int32(p.ts-a.ts))
		a.jitter += (math.Abs(d) - a.jitter) / 16
	}
	a.seen, a.at, a.ts = true, p.at, p.ts
	return time.Duration(a.jitter / 48_000 * float64(time.Second))
}

const (
	// burst is how much audio may come at once: what piles up in a stuck network, and the silence that stood in for it.
	burst = voice.Samples(5 * Rate)
	// pace is how much faster than real time audio may come for long, in percent; clocks differ by far less.
	pace = 125
)

// allowance holds a caller to real time: a stream whose timestamps leap, or that floods, would otherwise make more
// audio than anyone could listen to. It is a token bucket of samples.
type allowance struct {
	left voice.Samples
	at   time.Time // of the last refill; zero before the first
}

func (a *allowance) refill(now time.Time) {
	if a.at.IsZero() {
		a.left, a.at = burst, now
		return
	}
	// Less than a millisecond would round away.
	if passed := min(now.Sub(a.at), time.Minute); passed >= time.Millisecond {
		a.left = min(burst, a.left+voice.Samples(passed*Rate*pace/100/time.Second))
		a.at = now
	}
}

func (a *allowance) take(n voice.Samples) bool {
	if n > a.left {
		return false
	}
	a.left -= n
	return true
}
