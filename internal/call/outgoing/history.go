package outgoing

import "github.com/antiphon-rt/antiphon/internal/voice"

// The playout history: keeps the audio of a response, sent and not yet sent, so that the output can rewind.

// blockSize is 200 ms of samples. It is so small that the kept audio costs little more memory than its length.
const blockSize = Rate / 5

// history holds the audio of a response from position start up to position end. It grows at the end by blocks and forgets
// whole blocks at the start, so that it never moves audio.
type history struct {
	start, end voice.Samples // Invariant: start <= end, start is a multiple of blockSize
	blocks     [][]int16     // blocks[0] begins at start; all but the last are full
	spare      []int16       // the block that was forgotten last, for reuse
}

func (h *history) reset() {
	*h = history{}
}

// append copies pcm to the end.
func (h *history) append(pcm []int16) {
	h.end += voice.Samples(len(pcm))
	for len(pcm) > 0 {
		last := len(h.blocks) - 1
		if last < 0 || len(h.blocks[last]) == blockSize {
			h.blocks = append(h.blocks, h.emptyBlock())
			last++
		}
		n := min(len(pcm), blockSize-len(h.blocks[last]))
		h.blocks[last] = append(h.blocks[last], pcm[:n]...)
		pcm = pcm[n:]
	}
}

// emptyBlock returns a block without samples, with room for blockSize.
func (h *history) emptyBlock() []int16 {
	b := h.spare
	h.spare = nil
	if b == nil {
		b = make([]int16, 0, blockSize)
	}
	return b[:0]
}

// read copies the audio from position pos on into dst and returns the number of samples that it copied. pos lies within
// [start, end].
func (h *history) read(pos voice.Samples, dst []int16) int {
	n := 0
	for n < len(dst) && pos < h.end {
		offset := int(pos - h.start)
		c := copy(dst[n:], h.blocks[offset/blockSize][offset%blockSize:])
		n += c
		pos += voice.Samples(c)
	}
	return n
}

// forget drops the whole blocks before position pos.
func (h *history) forget(pos voice.Samples) {
	for len(h.blocks) > 0 && h.start+blockSize <= pos {
		h.spare = h.blocks[0]
		h.blocks[0] = nil
		h.blocks = h.blocks[1:]
		h.start += blockSize
	}
}
