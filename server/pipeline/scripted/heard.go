package scripted

import (
	"fmt"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/voice"
)

// Geometry of spoken answers, in looks.
const (
	perHalf = perSymbol   // hops of half a character
	perCell = 2 * perHalf // hops of a character
	gap     = 4           // looks of silence that part two pieces of speech: 20 ms
	slip    = 2           // what it costs to leave a look out, beside at most 20 that a character is worth
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

// readPiece reads the characters that it can be surest of together, one behind the other. Looks may be left out between two: where
// some of the speech is missing.
func readPiece(p []sight) string {
	total, taken := make([]float32, len(p)+perHalf), make([]string, len(p)+perHalf)
	for n := 1; n < len(total); n++ {
		if total[n] = total[n-1] - slip; n < perCell {
			total[n] = 0
			continue
		}
		c, sure := readCell(p[n-perCell], p[n-perHalf])
		if sum := total[n-perCell] + sure; sum > total[n] {
			total[n], taken[n] = sum, c
		}
	}
	var read []string
	for n := len(total) - 1; n >= perCell; {
		if total[n] == total[n-1]-slip && taken[n] == "" {
			n--
			continue
		}
		read = append(read, taken[n])
		n -= perCell
	}
	slices.Reverse(read)
	return strings.Join(read, "")
}

// readCell reads one character, and says how sure it is of it. What is not printable was not spoken, so it counts against the place.
func readCell(hi, lo sight) (string, float32) {
	c := hi.value<<4 | lo.value
	s := min(hi.sure, lo.sure, 20)
	switch {
	case s < clearly:
		return "", 0
	case c < ' ' || c > '~':
		return "", -s
	}
	return string(rune(c)), s
}
