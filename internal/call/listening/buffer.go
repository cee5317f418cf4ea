package listening

// The input buffer: the user's audio that is not committed yet.

import (
	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// MaxBuffer is the longest input buffer of a session, in samples: five minutes, 14 MB.
const MaxBuffer = 5 * 60 * room.InputRate

// ownAudio is how many bytes of a session's buffer, and of its audio that waits for the recogniser, are beside the budget: 43 s of each.
const ownAudio = 2 << 20

// size returns the bytes of a number of samples.
func size(samples int) int64 { return 2 * int64(samples) }

// buffer is the audio that is not yet an item. Its samples are conserved:
// appended = committed + dropped + Len (BytesConserved).
type buffer struct {
	memory *account.Account
	pcm    []int16
	room   []int16       // the array that pcm is in, from its begin
	end    voice.Samples // position after the last sample, counted from the session's first

	appended, committed, dropped voice.Samples
}

// take reports whether there is room for n samples, which Append adds then: within limit, and in the memory.
func (b *buffer) take(n, limit int) bool {
	return b.Len()+n <= limit && b.memory.Take(size(n)) == nil
}

// Append adds audio at the end, for which take has made sure of the room.
func (b *buffer) Append(pcm []int16) {
	b.appended += voice.Samples(len(pcm))
	b.end += voice.Samples(len(pcm))
	if n := len(b.pcm) + len(pcm); n > cap(b.pcm) { // not for each piece: dropped samples leave room at the begin
		if n+n/8 > cap(b.room) {
			b.room = make([]int16, n+n/4)
		}
		b.pcm = append(b.room[:0], b.pcm...)
	}
	b.pcm = append(b.pcm, pcm...)
}

// Len returns the number of samples in the buffer.
func (b *buffer) Len() int { return len(b.pcm) }

// Start returns the position of the first sample in the buffer.
func (b *buffer) Start() voice.Samples { return b.end - voice.Samples(len(b.pcm)) }

// From returns the samples from position at on. They are read-only and change with the next call.
func (b *buffer) From(at voice.Samples) []int16 {
	return b.pcm[min(max(at-b.Start(), 0), voice.Samples(len(b.pcm))):]
}

// DropBefore drops the samples before position at.
func (b *buffer) DropBefore(at voice.Samples) {
	n := int(min(max(at-b.Start(), 0), voice.Samples(len(b.pcm))))
	if n == 0 {
		return
	}
	b.dropped += voice.Samples(n)
	b.memory.Give(size(n))
	b.pcm = b.pcm[n:]
}

// Commit empties the buffer and returns its samples, which become an item. The caller owns them.
func (b *buffer) Commit() []int16 {
	pcm := b.pcm
	b.committed += voice.Samples(len(pcm))
	b.memory.Give(size(len(pcm)))
	b.pcm, b.room = nil, nil
	return pcm
}
