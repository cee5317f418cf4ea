package rtc

import "github.com/antiphon-rt/antiphon/voice"

// blockSize is 200 ms: small enough that the kept past costs little more than its length.
const blockSize = Rate / 5

// tape holds the stretch [start, end) of a reply's audio. It grows at the end by blocks and loses whole
// blocks at the start, so nothing is ever moved.
type tape struct {
	start, end voice.Samples // Invariant: start <= end, start is a multiple of blockSize
	blocks     [][]int16     // blocks[0] begins at start; all but the last are full
	spare      []int16       // the last block forgotten, for the next one needed
}

func (t *tape) reset() {
	*t = tape{}
}

// append copies pcm to the end.
func (t *tape) append(pcm []int16) {
	t.end += voice.Samples(len(pcm))
	for len(pcm) > 0 {
		last := len(t.blocks) - 1
		if last < 0 || len(t.blocks[last]) == blockSize {
			t.blocks = append(t.blocks, t.block())
			last++
		}
		n := min(len(pcm), blockSize-len(t.blocks[last]))
		t.blocks[last] = append(t.blocks[last], pcm[:n]...)
		pcm = pcm[n:]
	}
}

func (t *tape) block() []int16 {
	b := t.spare
	t.spare = nil
	if b == nil {
		b = make([]int16, 0, blockSize)
	}
	return b[:0]
}

// read copies the audio from position pos on into dst and returns how many samples there were. pos is
// within [start, end].
func (t *tape) read(pos voice.Samples, dst []int16) int {
	n := 0
	for n < len(dst) && pos < t.end {
		offset := int(pos - t.start)
		c := copy(dst[n:], t.blocks[offset/blockSize][offset%blockSize:])
		n += c
		pos += voice.Samples(c)
	}
	return n
}

// forget gives up whole blocks before position pos.
func (t *tape) forget(pos voice.Samples) {
	for len(t.blocks) > 0 && t.start+blockSize <= pos {
		t.spare = t.blocks[0]
		t.blocks[0] = nil
		t.blocks = t.blocks[1:]
		t.start += blockSize
	}
}
