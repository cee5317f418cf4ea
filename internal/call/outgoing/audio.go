package outgoing

import "github.com/antiphon-rt/antiphon/internal/voice"

// The audio of a call: decides which 20 ms of audio the next frame carries. It holds, rewinds and drops responses.

// Sizes of the audio path. A frame is 20 ms.
const (
	// Rate is the sample rate of all PCM in this package, in hertz.
	Rate = 24_000
	// FrameSize is the number of samples in one frame.
	FrameSize = Rate / 50
	// Keep is how much audio stays available for Resume after it was sent: 10 s. A barge-in rewinds by less than one second; the
	// server finds out only after some seconds that a client is gone and has not received what was sent.
	Keep = voice.Samples(10 * Rate)
	// MaxUnsent bounds the audio that waits to be sent: 5 minutes (14 MB). Watch Buffered and generate no further ahead than is
	// useful: what a Write brings above this bound is dropped and counted.
	MaxUnsent = voice.Samples(5 * 60 * Rate)
)

// silentFrame is a frame of silence.
var silentFrame [FrameSize]int16

// Audio is one response at a time, cut into frames of 20 ms: silence when there is no audio. Its methods are those of a link.Output; the caller
// locks them. The zero value has no response.
type Audio struct {
	history history

	gen     uint64
	live    bool // between Begin and Drop
	held    bool
	ended   bool // End was called: the history is complete
	runs    bool // the last frame was of this segment
	drained bool // the segment was reported as drained
	pos     voice.Samples
	gain    float32 // of the response from the next frame on
	was     float32 // the gain at the end of the last frame
	farEnd  farEnd

	refused uint64 // samples above MaxUnsent, which were dropped
}

// Begin begins a response as segment gen.
func (a *Audio) Begin(gen uint64) {
	a.history.reset()
	a.gen, a.live, a.held, a.ended, a.runs, a.drained, a.pos = gen, true, false, false, false, false, 0
	a.gain, a.was = 1, 1
}

// Write appends audio of any length to the response. Without a response, or after its End, it does nothing: a cancelled synthesis may
// still bring audio.
func (a *Audio) Write(pcm []int16) {
	if !a.live || a.ended {
		return
	}
	room := max(0, int(MaxUnsent-(a.history.end-a.pos)))
	if len(pcm) > room {
		a.refused += uint64(len(pcm) - room)
		pcm = pcm[:room]
	}
	a.history.append(pcm)
}

// End says that the response has no more audio. The response stays until Begin or Drop, so that Hold and Resume can still rewind it after
// its last frame.
func (a *Audio) End() { a.ended = a.live }

// Hold has the following frames be silent. It has no effect on a response that is held already.
func (a *Audio) Hold() (sent voice.Samples) {
	a.held = a.live
	return a.pos
}

// Soften plays the response at this gain from the next frame on, until Resume or Begin.
func (a *Audio) Soften(gain float32) { a.gain = gain }

// Resume continues at position from, as segment gen. It moves a position that is not kept (see Keep), or not written yet, to the nearest
// one that is. ok is false without a response: it does nothing then.
func (a *Audio) Resume(gen uint64, from voice.Samples) (at voice.Samples, ok bool) {
	if !a.live {
		return 0, false
	}
	a.pos = min(max(from, a.history.start), a.history.end)
	if a.gain = 1; !a.runs {
		a.was = 1
	}
	a.gen, a.held, a.runs, a.drained = gen, false, false, false
	return a.pos, true
}

// Drop forgets the response. No frame is reported as its last one.
func (a *Audio) Drop() (sent voice.Samples) {
	a.live, a.held = false, false
	a.history.reset()
	return a.pos
}

// Live reports whether there is a response.
func (a *Audio) Live() bool { return a.live }

// Sent returns how much of the response was sent. After Drop the position stays until the next Begin.
func (a *Audio) Sent() voice.Samples { return a.pos }

// Buffered returns how much of the response is written and not sent.
func (a *Audio) Buffered() voice.Samples {
	if !a.live {
		return 0
	}
	return a.history.end - a.pos
}

// Quiet reports whether no audio of a response is being sent: there is none, it is held, or it was sent to its end.
func (a *Audio) Quiet() bool { return !a.live || a.held || a.ended && a.pos == a.history.end }

// Frame describes what is sent next.
type Frame struct {
	Gen     uint64
	From    voice.Samples // the position before it
	Sent    voice.Samples // the position after it
	Voiced  bool          // it contains audio of the response
	First   bool          // it is the response's first, or the first after a silence or a Resume
	Drained bool          // the segment ends with it, or has ended before it
	Cut     bool          // it is silent because of a hold or a drop: the audio before it must not ring on
}

// Next copies the next frame's audio into pcm and moves on by one frame. pcm of a silent frame is not written.
func (a *Audio) Next(pcm *[FrameSize]int16) Frame {
	f := a.Take(pcm)
	if !f.Voiced {
		a.farEnd.add(silentFrame[:])
	}
	return f
}

// Take is Next for a far end that plays silence by itself: a silent frame is none, and no time passes with it.
func (a *Audio) Take(pcm *[FrameSize]int16) Frame {
	f := Frame{Gen: a.gen, From: a.pos, Sent: a.pos, Cut: !a.live || a.held}
	ran := a.runs
	if a.runs = false; f.Cut {
		return f
	}
	// A part of a frame waits for the rest, unless the response has ended.
	if left := a.history.end - a.pos; left >= FrameSize || a.ended && left > 0 {
		n := a.history.read(a.pos, pcm[:])
		clear(pcm[n:])
		a.scale(pcm)
		a.pos += voice.Samples(n)
		a.history.forget(a.pos - Keep)
		f.Sent, f.Voiced, f.First = a.pos, true, !ran
		a.runs = true
		a.farEnd.add(pcm[:])
	}
	if a.ended && !a.drained && a.pos == a.history.end {
		f.Drained, a.drained = true, true
	}
	return f
}

// gainRamp is over how many samples a gain changes, so that no click is heard: 5 ms.
const gainRamp = Rate * 5 / 1000

// scale applies the gain to a frame.
func (a *Audio) scale(pcm *[FrameSize]int16) {
	from := a.was
	a.was = a.gain
	if from == 1 && a.gain == 1 {
		return
	}
	for i, v := range pcm {
		pcm[i] = int16((from + (a.gain-from)*min(1, float32(i)/gainRamp)) * float32(v))
	}
}

// Skip notes that the time of n frames passes in which nothing is sent.
func (a *Audio) Skip(n int) {
	a.runs = false
	for range min(n, int(FarEndKept/FrameSize)) {
		a.farEnd.add(silentFrame[:])
	}
}

// Refused returns how many samples were dropped because of MaxUnsent.
func (a *Audio) Refused() uint64 { return a.refused }

// FarEndPosition is that of a link.FarEndReader.
func (a *Audio) FarEndPosition() voice.Samples { return a.farEnd.end }

// ReadFarEnd is that of a link.FarEndReader. The last second is kept.
func (a *Audio) ReadFarEnd(at voice.Samples, dst []int16) (ok bool) { return a.farEnd.read(at, dst) }
