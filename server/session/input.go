package session

import (
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/voice"
)

// maxInput is the longest input buffer: five minutes, 14 MB.
const maxInput = 5 * 60 * format.InputRate

// inputBuffer is the audio that is not yet an item. Its samples are conserved:
// appended = committed + cleared + dropped + Len (BytesConserved).
type inputBuffer struct {
	pcm []int16
	end voice.Samples // position after the last sample, counted from the session's first

	appended, committed, cleared, dropped voice.Samples
}

// Append takes audio at its end. The caller keeps Len within maxInput.
func (b *inputBuffer) Append(pcm []int16) {
	b.appended += voice.Samples(len(pcm))
	b.end += voice.Samples(len(pcm))
	b.pcm = append(b.pcm, pcm...)
}

// Len is how many samples are there.
func (b *inputBuffer) Len() int { return len(b.pcm) }

// Start is the position of the first sample that is there.
func (b *inputBuffer) Start() voice.Samples { return b.end - voice.Samples(len(b.pcm)) }

// DropBefore forgets what the detector does not want: everything before position at.
func (b *inputBuffer) DropBefore(at voice.Samples) {
	n := int(min(max(at-b.Start(), 0), voice.Samples(len(b.pcm))))
	if n == 0 {
		return
	}
	b.dropped += voice.Samples(n)
	b.pcm = append(b.pcm[:0], b.pcm[n:]...)
}

// Commit empties the buffer into an item.
func (b *inputBuffer) Commit() []int16 {
	pcm := b.pcm
	b.committed += voice.Samples(len(pcm))
	b.pcm = nil
	return pcm
}

// Clear empties the buffer for nothing.
func (b *inputBuffer) Clear() {
	b.cleared += voice.Samples(len(b.pcm))
	b.pcm = b.pcm[:0]
}
