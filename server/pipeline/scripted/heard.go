package scripted

import (
	"fmt"
	"strings"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/voice"
)

// Geometry of spoken answers, in looks.
const (
	perHalf = perSymbol   // hops of half a character
	perCell = 2 * perHalf // hops of a character
	gap     = 1           // looks of silence that part two pieces of speech: a silent packet of 20 ms has one at least
)

// Heard reads back what the scripted synthesizer spoke at speed 1, from a recording of any part of it (mono, 24 kHz). Pieces
// that silence parts are joined without a space; a character that is cut, or that cannot be read, is left out.
func Heard(pcm []int16) (string, error) {
	r, err := voice.NewResampler(pipeline.OutputRate, pipeline.InputRate)
	if err != nil {
		return "", fmt.Errorf("heard: %w", err)
	}
	x := r.Flush(r.Append(nil, voice.PCM16ToFloat(nil, pcm)))
	a := newAnalyser()
	var b strings.Builder
	var piece []sight
	silent := 0
	for n := 0; n+window <= len(x); n += hop {
		s := a.see(x[n : n+window])
		if s.sure > 0 {
			silent = 0
		} else {
			silent++
		}
		piece = append(piece, s)
		if silent == gap {
			b.WriteString(readPiece(piece[:len(piece)-gap]))
			piece, silent = piece[:0], 0
		}
	}
	b.WriteString(readPiece(piece))
	return b.String(), nil
}

// readPiece reads one piece at the place in a cell where it is surest.
func readPiece(p []sight) string {
	best, top := "", float32(0)
	for at := range perCell {
		if text, sure := readFrom(p, at); sure > top {
			best, top = text, sure
		}
	}
	return best
}

// readFrom reads characters from a look on, and says how sure it is of all of them together. What is not printable was not
// spoken, so it counts against the place.
func readFrom(p []sight, at int) (string, float32) {
	var b strings.Builder
	var sure float32
	for ; at+perHalf < len(p); at += perCell {
		hi, lo := p[at], p[at+perHalf]
		c := hi.value<<4 | lo.value
		s := min(hi.sure, lo.sure, 20)
		switch {
		case s < clearly:
		case c < ' ' || c > '~':
			sure -= s
		default:
			b.WriteByte(c)
			sure += s
		}
	}
	return b.String(), sure
}
