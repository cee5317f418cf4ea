package rtc

import (
	"math/rand/v2"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/outgoing"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// The output of a call: package outgoing with the RTP timestamps of what was sent.

// Sizes of the audio path. A frame is 20 ms.
const (
	// Rate is the sample rate of all PCM in this package, in hertz.
	Rate = opus.Rate
	// FrameSize is the number of samples in one outgoing packet.
	FrameSize = opus.FrameSize
	// maxAhead is how far beyond the end of what was sent a client may report its playback, in ticks: 100 ms.
	maxAhead = 100 * 48

	// frameTicks is the length of a frame on the RTP clock of Opus, 48 kHz (RFC 7587 section 4.1).
	frameTicks = 960
	// ticksPerSample converts samples to ticks of that clock.
	ticksPerSample = 48_000 / Rate
)

// Output paces one response at a time onto the outgoing track of a call: exactly one packet every 20 ms, silence when there is
// no audio. It implements link.Output, link.Timeline, link.FarEndReader and link.Receipts.
//
// It is safe for concurrent use. Its methods return at once; a Handler may call them. A frame that the pacer has taken already
// still goes out after Hold or Drop has returned, and counts in the position that they return.
type Output struct {
	mu       sync.Mutex
	audio    outgoing.Audio
	timeline timeline
	receipts receipts
	// RTP timestamps: of the first packet, of the next packet, and of the end of the last frame of speech.
	startTS, nextTS, silentTS uint32
}

// NewOutput returns an Output whose RTP clock starts at this timestamp, which is not 0: 0 means "none" in an event.
func NewOutput(start uint32) *Output {
	return &Output{startTS: start, nextTS: start, silentTS: start, receipts: receipts{upTo: start}}
}

// randomStart returns a random timestamp, as RFC 3550 section 5.1 asks, in the lower half: 0 is half a day away.
func randomStart() uint32 { return 1 + rand.Uint32N(1<<31) }

func (o *Output) Begin(gen uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.audio.Begin(gen)
	o.receipts.cut = false // nothing of this response was sent, and nothing of the one before can be sent again
}

func (o *Output) Write(pcm []int16) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.audio.Write(pcm)
}

// End implements link.Output. The response stays until Begin or Drop, so that Hold and Resume can still rewind it after
// Handler.Drained.
func (o *Output) End() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.audio.End()
}

// Hold implements link.Output: the pacer sends silence.
func (o *Output) Hold() (sent voice.Samples) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.audio.Hold()
}

func (o *Output) Soften(gain float32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.audio.Soften(gain)
}

func (o *Output) Resume(gen uint64, from voice.Samples) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if at, ok := o.audio.Resume(gen, from); ok {
		o.timeline.add(o.nextTS, gen, at, 0)
	}
}

// Drop implements link.Output. Handler.Drained does not follow.
func (o *Output) Drop() (sent voice.Samples) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.audio.Drop()
}

// Sent implements link.Output. After Drop the position stays until the next Begin.
func (o *Output) Sent() voice.Samples {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.audio.Sent()
}

// Buffered returns how much of the response is written and not sent.
func (o *Output) Buffered() voice.Samples {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.audio.Buffered()
}

// NextTimestamp returns the RTP timestamp of the next packet.
func (o *Output) NextTimestamp() uint32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.nextTS
}

// FirstSilent implements link.Timeline. The silence begins after the last frame of speech, however long ago that was.
func (o *Output) FirstSilent() (ts uint32, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.silentTS, o.audio.Quiet()
}

// PositionAt implements link.Timeline. The last 10 s of speech are known, also of responses that were dropped or have ended. A
// client that has received everything reports the end of it. A client that takes its playback to continue reports a little
// more, which counts as the end, too.
func (o *Output) PositionAt(ts uint32) (p link.Position, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if int32(ts-o.nextTS) > maxAhead || int32(ts-o.startTS) < 0 {
		return link.Position{}, false
	}
	if int32(ts-o.nextTS) > 0 {
		ts = o.nextTS
	}
	return o.timeline.at(ts, o.nextTS)
}

func (o *Output) FarEndPosition() voice.Samples {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.audio.FarEndPosition()
}

// ReadFarEnd implements link.FarEndReader. The last second is kept.
func (o *Output) ReadFarEnd(at voice.Samples, dst []int16) (ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.audio.ReadFarEnd(at, dst)
}

// frame describes what the pacer sends next.
type frame struct {
	outgoing.Frame
	ts uint32
}

// next copies the next frame's audio into pcm and moves on by one frame of time.
func (o *Output) next(pcm *[FrameSize]int16) frame {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := frame{o.audio.Next(pcm), o.nextTS}
	o.nextTS += frameTicks
	if f.Voiced {
		o.timeline.add(f.ts, f.Gen, f.From, int(f.Sent-f.From))
		o.silentTS = o.nextTS
	}
	return f
}

// skip moves the RTP clock on by n frames that are not sent.
func (o *Output) skip(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.nextTS += uint32(n) * frameTicks
	o.audio.Skip(n)
}

// refusedSamples returns how many samples were dropped because of outgoing.MaxUnsent.
func (o *Output) refusedSamples() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.audio.Refused()
}

var (
	_ link.Output       = (*Output)(nil)
	_ link.Timeline     = (*Output)(nil)
	_ link.FarEndReader = (*Output)(nil)
	_ link.Receipts     = (*Output)(nil)
)
