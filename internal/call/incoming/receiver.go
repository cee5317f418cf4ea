package incoming

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// The receiver of the client's audio: decodes ordered packets into one unbroken stream of PCM, with packet loss concealment
// and silence in pauses.

const (
	// maxFill bounds the audio made up for one gap: no turn waits for more than 2 s of silence.
	maxFill = voice.Samples(2 * opus.Rate)
	// maxConceal bounds how much of a gap the codec conceals. After 100 ms the codec hums, and silence is better.
	maxConceal = voice.Samples(opus.Rate / 10)
	// pauseSlack is how late a packet may be before the receiver fills a pause that was announced (DTX).
	pauseSlack = 40 * time.Millisecond
	// stallSlack is how late a packet may be if no pause was announced: the client has stopped its microphone, or the network is
	// stuck.
	stallSlack = 500 * time.Millisecond
	// pauseBytes is the size up to which an Opus packet announces that its sender stops sending for a while (RFC 7587 section
	// 3.1.3). Browsers then send only one packet every 400 ms.
	pauseBytes = 2
	// ticksPerSample converts samples to ticks of the RTP clock of Opus, 48 kHz (RFC 7587 section 4.1).
	ticksPerSample = 48_000 / opus.Rate
)

// Receiver makes one unbroken stream of PCM from the client's packets: in order, losses concealed, pauses filled with
// silence as they pass. So the amount of audio is a clock for its receiver. The receiver has no clock of its own: the time
// comes with the calls. It belongs to one goroutine.
type Receiver struct {
	jitter jitterBuffer
	dec    opus.Decoding
	to     Listener
	pcm    []int16
	quiet  []int16 // one frame of silence
	stats  *Stats

	running bool
	due     uint32        // RTP timestamp of the audio that comes next, not counting ahead
	frame   voice.Samples // length of the last packet
	ahead   voice.Samples // silence emitted beyond due because no packet came
	last    time.Time     // when the last packet arrived
	pause   bool          // the last packet announced a pause

	arrival   arrival
	allowance allowance
}

// Stats are written by the receiver and read by any goroutine.
type Stats struct {
	// Packets and Bytes count what arrived, Lost what did not. Garbled packets broke the decoder, Refused came too fast.
	Packets, Bytes, Lost, Garbled, Refused atomic.Uint64
	// Concealed and Filled count samples that were made up for lost packets, and samples of silence in pauses.
	Concealed, Filled atomic.Uint64
	// Jitter is a time.Duration (RFC 3550 section 6.4.1).
	Jitter atomic.Int64
}

// Listener gets the stream.
type Listener interface {
	// Audio brings decoded or concealed audio, and silence of a pause that the client announced. pcm is valid only during the call.
	Audio(pcm []int16)
	// Missing stands for samples of which no packet has arrived in time.
	Missing(samples int)
}

// New returns a receiver that decodes with dec, counts in stats, and gives its stream to a Listener.
func New(dec opus.Decoding, stats *Stats, to Listener) *Receiver {
	return &Receiver{
		dec: dec, to: to, stats: stats, frame: opus.FrameSize,
		pcm: make([]int16, opus.MaxPacket), quiet: make([]int16, opus.FrameSize),
	}
}

// Push takes a packet as it comes from the network. The caller may reuse the payload afterwards.
func (r *Receiver) Push(p Packet) {
	r.stats.Packets.Add(1)
	r.stats.Bytes.Add(uint64(len(p.Payload)))
	r.stats.Jitter.Store(int64(r.arrival.add(p)))
	r.allowance.refill(p.At)
	r.jitter.push(p, r.play)
}

// Tick does what is due at the time now without a packet.
func (r *Receiver) Tick(now time.Time) {
	r.allowance.refill(now)
	r.jitter.expire(now, r.play)
	for r.running && r.ahead < maxFill && !r.fillDue().After(now) {
		r.silence(opus.FrameSize, r.pause)
		r.ahead += opus.FrameSize
	}
}

// Wake returns when tick has something to do. ok is false if only a packet can bring it.
func (r *Receiver) Wake() (wake time.Time, ok bool) {
	wake, ok = r.jitter.wake()
	if r.running && r.ahead < maxFill {
		if fill := r.fillDue(); !ok || fill.Before(wake) {
			wake, ok = fill, true
		}
	}
	return wake, ok
}

// Extend reports that this machine was busy for so long. Packets that arrived meanwhile are still unread, so nothing is late yet:
// every wait gets this much more time, and jitterWait for the reading.
func (r *Receiver) Extend(by time.Duration) {
	by += jitterWait
	r.last = r.last.Add(by)
	r.jitter.extend(by)
}

// fillDue returns when the next frame of silence is due: once the expected packet is late, and then every 20 ms.
func (r *Receiver) fillDue() time.Time {
	slack := stallSlack
	if r.pause || r.ahead > 0 {
		slack = pauseSlack
	}
	return r.last.Add(slack + duration(r.ahead+opus.FrameSize))
}

// play emits the audio missing before a packet, and that of the packet. lost is fresh for a packet that begins a new stream.
func (r *Receiver) play(p Packet, lost int) {
	r.stats.Lost.Add(uint64(max(lost, 0)))
	if len(p.Payload) == 0 {
		return // padding: it has a number and no audio
	}
	if gap := int32(p.TS - r.due); r.running && lost != fresh && gap > 0 {
		r.bridge(voice.Samples(gap/ticksPerSample)-r.ahead, lost, p.Payload)
	}
	if !r.allowance.take(r.frame) {
		r.stats.Refused.Add(1)
		return
	}
	n, err := r.dec.Decode(p.Payload, r.pcm)
	if err != nil {
		// The packet's length is unknown: it counts as long as the one before.
		r.stats.Garbled.Add(1)
		n = int(r.frame)
		r.conceal(r.pcm[:n])
	}
	r.to.Audio(r.pcm[:n])
	r.running = true
	r.due = p.TS + uint32(n)*ticksPerSample
	r.frame, r.ahead, r.last = voice.Samples(n), 0, p.At
	r.pause = len(p.Payload) <= pauseBytes
}

// bridge emits audio for a gap before the packet next: audio that the codec makes up for what was lost, silence where the client paused,
// and at the end the copy of the lost packet directly before next, if next has one.
func (r *Receiver) bridge(gap voice.Samples, lost int, next []byte) {
	gap = min(gap, maxFill-r.ahead)
	missing := voice.Samples(lost) * r.frame
	var copied voice.Samples
	if lost > 0 && gap >= r.frame && r.dec.Redundant(next) {
		copied = r.frame
	}
	conceal := min(gap-copied, missing-copied, maxConceal)
	r.madeUp(conceal)
	// What no lost packet accounts for is a pause of the client.
	for left := gap - copied - conceal; left > 0; left -= opus.FrameSize {
		r.silence(int(min(left, opus.FrameSize)), r.pause || lost == 0)
	}
	if copied == 0 || !r.allowance.take(copied) {
		return
	}
	pcm := r.pcm[:copied]
	if !r.dec.Recover(next, pcm) {
		r.conceal(pcm)
	}
	r.replace(pcm)
}

// madeUp emits n samples that the codec makes up. The codec makes up no more than the client may send: this is its dearest work.
func (r *Receiver) madeUp(n voice.Samples) {
	for ; n > 0; n -= opus.FrameSize {
		pcm := r.pcm[:min(n, opus.FrameSize)]
		if !r.allowance.take(voice.Samples(len(pcm))) {
			return
		}
		r.conceal(pcm)
		r.replace(pcm)
	}
}

// replace emits pcm in place of lost audio.
func (r *Receiver) replace(pcm []int16) {
	r.stats.Concealed.Add(uint64(len(pcm)))
	r.to.Audio(pcm)
}

// conceal fills pcm with audio that the codec makes up, or with silence if the codec fails.
func (r *Receiver) conceal(pcm []int16) {
	for len(pcm) > 0 {
		n := min(len(pcm), opus.FrameSize)
		if r.dec.Conceal(pcm[:n]) != nil {
			clear(pcm[:n])
		}
		pcm = pcm[n:]
	}
}

// silence emits n samples, at most one frame, for which there is no packet. paused says that the client sent none: the samples are
// silence then, and missing otherwise.
func (r *Receiver) silence(n int, paused bool) {
	if !r.allowance.take(voice.Samples(n)) {
		return
	}
	r.stats.Filled.Add(uint64(n))
	if !paused {
		r.to.Missing(n)
		return
	}
	clear(r.quiet) // the listener may have written to it
	r.to.Audio(r.quiet[:n])
}

// duration returns how long n samples last.
func duration(n voice.Samples) time.Duration {
	return time.Duration(n) * time.Second / opus.Rate
}

// arrival estimates jitter as RFC 3550 section 6.4.1 does.
type arrival struct {
	seen   bool
	at     time.Time
	ts     uint32
	jitter float64 // the jitter in RTP ticks
}

// add takes the next packet and returns the estimate so far.
func (a *arrival) add(p Packet) time.Duration {
	if a.seen {
		d := p.At.Sub(a.at).Seconds()*48_000 - float64(int32(p.TS-a.ts))
		a.jitter += (math.Abs(d) - a.jitter) / 16
	}
	a.seen, a.at, a.ts = true, p.At, p.TS
	return time.Duration(a.jitter / 48_000 * float64(time.Second))
}

const (
	// burst is how much audio may arrive at once: what a stuck network held back, and the silence that replaced it.
	burst = voice.Samples(5 * opus.Rate)
	// pace is how fast audio may arrive over a long time, in percent of real time. Clocks differ by far less.
	pace = 125
)

// allowance limits a client's audio to real time: otherwise a stream whose timestamps leap, or that floods, would make more audio
// than anybody can take. It is a token bucket of samples.
type allowance struct {
	left voice.Samples
	at   time.Time // the time of the last refill; zero before the first
}

func (a *allowance) refill(now time.Time) {
	if a.at.IsZero() {
		a.left, a.at = burst, now
		return
	}
	// Less than a millisecond would be rounded to nothing.
	if passed := min(now.Sub(a.at), time.Minute); passed >= time.Millisecond {
		a.left = min(burst, a.left+voice.Samples(passed*opus.Rate*pace/100/time.Second))
		a.at = now
	}
}

// take reports whether n samples may pass, and subtracts them.
func (a *allowance) take(n voice.Samples) bool {
	if n > a.left {
		return false
	}
	a.left -= n
	return true
}
