package rtc

import (
	"math/rand/v2"
	"sync"

	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/voice"
)

// Sizes of the audio path. A frame is 20 ms.
const (
	// Rate is the sample rate of all PCM in this package, in hertz.
	Rate = 24_000
	// FrameSize is the number of samples in one outgoing packet.
	FrameSize = Rate / 50
	// Keep is how much audio stays available for Resume after it was sent: 10 s. An interruption goes back by less than one; what
	// was sent to a client that had gone is known to be lost only after some.
	Keep = voice.Samples(10 * Rate)
	// maxAhead is how far behind the end of what was sent a client may take its playback to be, in ticks: 100 ms.
	maxAhead = 100 * 48
	// MaxUnsent bounds the audio that waits to be sent: 5 minutes (14 MB). Watch Buffered and generate
	// no further ahead than is useful; what a Write brings above this bound is dropped and counted.
	MaxUnsent = voice.Samples(5 * 60 * Rate)

	// frameTicks is a frame's length on the RTP clock of Opus, 48 kHz (RFC 7587 section 4.1).
	frameTicks = 960
	// ticksPerSample turns samples into ticks of that clock.
	ticksPerSample = 48_000 / Rate
)

// Output paces one reply at a time onto a call's outgoing track: exactly one packet every 20 ms, silence
// when there is nothing to say.
//
// Positions are samples at 24 kHz since the reply's Begin. A segment is an unbroken run of a reply: Begin
// and Resume each start one, under the number gen that the caller chooses and the Handler gets back with
// Sent and Drained.
//
// A Output is safe for concurrent use. Its methods return at once; they may be called from a Handler. A
// frame that the pacer has taken already still goes out after Hold or Drop has returned, and is
// counted in the position that they return.
type Output struct {
	mu   sync.Mutex
	tape tape

	gen   uint64
	live  bool // between Begin and Drop
	held  bool
	ended bool // End was called: the tape is complete
	said  bool // the reply's first frame was taken
	done  bool // the segment was reported as drained
	pos   voice.Samples
	heard positions
	past  past
	// RTP timestamps: of the first packet, of the next, and of the one behind the last frame of speech.
	startTS, nextTS, silent uint32

	dropped uint64 // samples refused above MaxUnsent
}

// newOutput returns a Output whose RTP clock starts anywhere, as RFC 3550 section 5.1 asks, but in the lower half: the
// timestamp 0, which in an event says that there is none, is half a day away.
func newOutput() *Output {
	ts := 1 + rand.Uint32N(1<<31)
	return &Output{startTS: ts, nextTS: ts, silent: ts}
}

// Begin starts a new reply as segment gen, at position 0. One that is still playing is dropped.
func (s *Output) Begin(gen uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tape.reset()
	s.gen, s.live, s.held, s.ended, s.said, s.done, s.pos = gen, true, false, false, false, false, 0
}

// Write appends audio of any length to the reply; pcm is copied. Without a reply, or after its End,
// it does nothing: what a cancelled synthesis still brings is not wanted.
func (s *Output) Write(pcm []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live || s.ended {
		return
	}
	room := max(0, int(MaxUnsent-(s.tape.end-s.pos)))
	if len(pcm) > room {
		s.dropped += uint64(len(pcm) - room)
		pcm = pcm[:room]
	}
	s.tape.append(pcm)
}

// End says that the reply has no more audio. When all is sent, Handler.Drained is called. The reply stays
// until Begin or Drop, so a Hold and a Resume after Drained can still rewind it.
func (s *Output) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = s.live
}

// Hold stops the reply where it is and keeps it; silence is sent instead. It returns how much was sent.
// Holding what is held already, or before any audio, is fine.
func (s *Output) Hold() (sent voice.Samples) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = s.live
	return s.pos
}

// Resume goes on with the reply at position from, as segment gen, held or not. A from outside what is
// kept (Keep back, and never beyond what was written) is moved to the nearest position that is.
// Without a reply it does nothing.
func (s *Output) Resume(gen uint64, from voice.Samples) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live {
		return
	}
	s.pos = min(max(from, s.tape.start), s.tape.end)
	s.gen, s.held, s.done = gen, false, false
	s.heard.add(s.nextTS, gen, s.pos, 0)
}

// Drop ends the reply at once and forgets it. It returns how much was sent. Drained does not follow.
func (s *Output) Drop() (sent voice.Samples) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live, s.held = false, false
	s.tape.reset()
	return s.pos
}

// Sent returns the position in the reply up to which audio was sent. After Drop it stays until the next Begin.
func (s *Output) Sent() voice.Samples {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pos
}

// Buffered returns how much of the reply is written and not sent.
func (s *Output) Buffered() voice.Samples {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live {
		return 0
	}
	return s.tape.end - s.pos
}

// NextTimestamp returns the RTP timestamp of the next packet.
func (s *Output) NextTimestamp() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nextTS
}

// FirstSilent returns the RTP timestamp of the first packet of the silence that is being sent: the one behind the last frame of
// speech, however long ago. ok is false while a reply is being said.
func (s *Output) FirstSilent() (ts uint32, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.silent, !s.live || s.held || s.ended && s.pos == s.tape.end
}

// PositionAt says what a client plays when it plays RTP timestamp ts. It remembers the last 10 s of speech, also of replies that
// were dropped or have ended; ok is false for a timestamp before that, or one that was not sent yet. A client that has all that was sent
// tells the end of it, and one that takes its playback to go on, a little more: both are the end.
func (s *Output) PositionAt(ts uint32) (p call.Position, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int32(ts-s.nextTS) > maxAhead || int32(ts-s.startTS) < 0 {
		return call.Position{}, false
	}
	if int32(ts-s.nextTS) > 0 {
		ts = s.nextTS
	}
	return s.heard.at(ts, s.nextTS)
}

// frame is what the pacer sends next.
type frame struct {
	gen     uint64
	sent    voice.Samples // the position after it
	ts      uint32
	voiced  bool // there is audio in it
	first   bool // the reply's first
	drained bool // the segment ends with it (or has ended before it)
	cut     bool // silence because of a hold or a drop: what came before must not sound on
}

// next takes the next frame's audio into pcm and moves on by one frame of time.
func (s *Output) next(pcm *[FrameSize]int16) frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.take(pcm)
	if f.voiced {
		s.past.add(pcm[:])
	} else {
		s.past.add(hush[:])
	}
	return f
}

// hush is a frame of silence.
var hush [FrameSize]int16

func (s *Output) take(pcm *[FrameSize]int16) frame {
	f := frame{gen: s.gen, ts: s.nextTS, cut: !s.live || s.held}
	s.nextTS += frameTicks
	if f.cut {
		f.sent = s.pos
		return f
	}
	// A part of a frame waits for the rest, unless there is none.
	if left := s.tape.end - s.pos; left >= FrameSize || s.ended && left > 0 {
		n := s.tape.read(s.pos, pcm[:])
		clear(pcm[n:])
		s.heard.add(f.ts, s.gen, s.pos, n)
		s.silent = s.nextTS
		s.pos += voice.Samples(n)
		s.tape.forget(s.pos - Keep)
		f.voiced, f.first = true, !s.said
		s.said = true
	}
	if s.ended && !s.done && s.pos == s.tape.end {
		f.drained, s.done = true, true
	}
	f.sent = s.pos
	return f
}

// skip moves the RTP clock on by n frames that are not sent.
func (s *Output) skip(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextTS += uint32(n) * frameTicks
	for range min(n, int(pastKept/FrameSize)) {
		s.past.add(hush[:])
	}
}

func (s *Output) refused() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}
