package rtc

import (
	"math/rand/v2"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// The output of a call: decides which 20 ms of audio the next packet carries. It holds, rewinds and drops responses.

// Sizes of the audio path. A frame is 20 ms.
const (
	// Rate is the sample rate of all PCM in this package, in hertz.
	Rate = opus.Rate
	// FrameSize is the number of samples in one outgoing packet.
	FrameSize = opus.FrameSize
	// Keep is how much audio stays available for Resume after it was sent: 10 s. A barge-in rewinds by less than one second; the
	// server finds out only after some seconds that a client is gone and has not received what was sent.
	Keep = voice.Samples(10 * Rate)
	// maxAhead is how far beyond the end of what was sent a client may report its playback, in ticks: 100 ms.
	maxAhead = 100 * 48
	// MaxUnsent bounds the audio that waits to be sent: 5 minutes (14 MB). Watch Buffered and generate no further ahead than is
	// useful: the Output drops and counts what a Write brings above this bound.
	MaxUnsent = voice.Samples(5 * 60 * Rate)

	// frameTicks is the length of a frame on the RTP clock of Opus, 48 kHz (RFC 7587 section 4.1).
	frameTicks = 960
	// ticksPerSample converts samples to ticks of that clock.
	ticksPerSample = 48_000 / Rate
)

// silentFrame is a frame of silence.
var silentFrame [FrameSize]int16

// Output paces one response at a time onto the outgoing track of a call: exactly one packet every 20 ms, silence when there is
// no audio. It implements link.Output, link.Timeline, link.FarEndReader and link.Receipts.
//
// It is safe for concurrent use. Its methods return at once; a Handler may call them. A frame that the pacer has taken already
// still goes out after Hold or Drop has returned, and counts in the position that they return.
type Output struct {
	mu      sync.Mutex
	history playoutHistory

	gen      uint64
	live     bool // between Begin and Drop
	held     bool
	ended    bool // End was called: the history is complete
	started  bool // the pacer took the response's first frame
	drained  bool // the segment was reported as drained
	pos      voice.Samples
	timeline timeline
	farEnd   farEndHistory
	receipts receipts
	// RTP timestamps: of the first packet, of the next packet, and of the end of the last frame of speech.
	startTS, nextTS, silentTS uint32

	refused uint64 // samples above MaxUnsent, which were dropped
}

// NewOutput returns an Output whose RTP clock starts at this timestamp, which is not 0: 0 means "none" in an event.
func NewOutput(start uint32) *Output {
	return &Output{startTS: start, nextTS: start, silentTS: start, receipts: receipts{upTo: start}}
}

// randomStart returns a random timestamp, as RFC 3550 section 5.1 asks, in the lower half: 0 is half a day away.
func randomStart() uint32 { return 1 + rand.Uint32N(1<<31) }

// Begin implements link.Output.
func (o *Output) Begin(gen uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.history.reset()
	o.gen, o.live, o.held, o.ended, o.started, o.drained, o.pos = gen, true, false, false, false, false, 0
	o.receipts.cut = false // nothing of this response was sent, and nothing of the one before can be sent again
}

// Write implements link.Output: it appends audio of any length to the response. Without a response, or after its End, it does
// nothing: a cancelled synthesis may still bring audio.
func (o *Output) Write(pcm []int16) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.live || o.ended {
		return
	}
	room := max(0, int(MaxUnsent-(o.history.end-o.pos)))
	if len(pcm) > room {
		o.refused += uint64(len(pcm) - room)
		pcm = pcm[:room]
	}
	o.history.append(pcm)
}

// End implements link.Output. The response stays until Begin or Drop, so that Hold and Resume can still rewind it after
// Handler.Drained.
func (o *Output) End() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = o.live
}

// Hold implements link.Output: the pacer sends silence. Hold has no effect on a response that is held already.
func (o *Output) Hold() (sent voice.Samples) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = o.live
	return o.pos
}

// Resume implements link.Output. It moves a position that is not kept (see Keep), or not written yet, to the nearest one that is.
// Without a response it does nothing.
func (o *Output) Resume(gen uint64, from voice.Samples) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.live {
		return
	}
	o.pos = min(max(from, o.history.start), o.history.end)
	o.gen, o.held, o.drained = gen, false, false
	o.timeline.add(o.nextTS, gen, o.pos, 0)
}

// Drop implements link.Output. Handler.Drained does not follow.
func (o *Output) Drop() (sent voice.Samples) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.live, o.held = false, false
	o.history.reset()
	return o.pos
}

// Sent implements link.Output. After Drop the position stays until the next Begin.
func (o *Output) Sent() voice.Samples {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pos
}

// Buffered returns how much of the response is written and not sent.
func (o *Output) Buffered() voice.Samples {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.live {
		return 0
	}
	return o.history.end - o.pos
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
	return o.silentTS, !o.live || o.held || o.ended && o.pos == o.history.end
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

// frame describes what the pacer sends next.
type frame struct {
	gen     uint64
	sent    voice.Samples // the position after it
	ts      uint32
	voiced  bool // it contains audio of the response
	first   bool // it is the response's first
	drained bool // the segment ends with it, or has ended before it
	cut     bool // it is silent because of a hold or a drop: the audio before it must not ring on
}

// next copies the next frame's audio into pcm and moves on by one frame of time.
func (o *Output) next(pcm *[FrameSize]int16) frame {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.take(pcm)
	if f.voiced {
		o.farEnd.add(pcm[:])
	} else {
		o.farEnd.add(silentFrame[:])
	}
	return f
}

// take is next without the far-end history. The caller holds mu.
func (o *Output) take(pcm *[FrameSize]int16) frame {
	f := frame{gen: o.gen, ts: o.nextTS, cut: !o.live || o.held}
	o.nextTS += frameTicks
	if f.cut {
		f.sent = o.pos
		return f
	}
	// A part of a frame waits for the rest, unless the response has ended.
	if left := o.history.end - o.pos; left >= FrameSize || o.ended && left > 0 {
		n := o.history.read(o.pos, pcm[:])
		clear(pcm[n:])
		o.timeline.add(f.ts, o.gen, o.pos, n)
		o.silentTS = o.nextTS
		o.pos += voice.Samples(n)
		o.history.forget(o.pos - Keep)
		f.voiced, f.first = true, !o.started
		o.started = true
	}
	if o.ended && !o.drained && o.pos == o.history.end {
		f.drained, o.drained = true, true
	}
	f.sent = o.pos
	return f
}

// skip moves the RTP clock on by n frames that are not sent.
func (o *Output) skip(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.nextTS += uint32(n) * frameTicks
	for range min(n, int(farEndKept/FrameSize)) {
		o.farEnd.add(silentFrame[:])
	}
}

// refusedSamples returns how many samples were dropped because of MaxUnsent.
func (o *Output) refusedSamples() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.refused
}

var (
	_ link.Output       = (*Output)(nil)
	_ link.Timeline     = (*Output)(nil)
	_ link.FarEndReader = (*Output)(nil)
	_ link.Receipts     = (*Output)(nil)
)
