package scripted

// This file reads the text from the sound of spoken answers, for tests.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Sizes of spoken answers, in looks.
const (
	perHalf = perSymbol   // hops of half a character
	perCell = 2 * perHalf // hops of a character
	perRead = 3           // looks that lie inside half a character: a look takes 16 ms of 30
	gap     = 4           // looks of silence between two pieces of speech: 20 ms
	slip    = 2           // cost of leaving out one look; a character is worth at most 20
)

// Heard returns the text that the scripted synthesizer has spoken at speed 1, from a recording of any part of it (mono, 24 kHz).
// It joins pieces with silence between them without a space. It leaves out a character that is cut or cannot be read.
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

// readPiece returns the sequence of characters with the highest total certainty. It may leave out looks between two characters, where
// some of the speech is missing.
func readPiece(p []sight) string {
	total, taken := make([]float32, len(p)+perHalf), make([]string, len(p)+perHalf)
	for n := 1; n < len(total); n++ {
		if total[n] = total[n-1] - slip; n < perCell {
			total[n] = 0
			continue
		}
		c, sure := readCell(p[n-perCell:n-perHalf], p[n-perHalf:min(n, len(p))])
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

// readCell returns one character, from the looks at its two halves, and how certain it is. The certainty of a character that is not
// printable is negative, because the synthesizer never speaks one.
func readCell(first, second []sight) (string, float32) {
	hi, lo := readHalf(first), readHalf(second)
	c := hi.value<<4 | lo.value
	s := min(hi.sure, lo.sure)
	switch {
	case s < clearly:
		return "", 0
	case c < ' ' || c > '~':
		return "", -s
	}
	return string(rune(c)), s
}

// readHalf returns the symbol that the looks inside half a character agree on best. A packet that was lost and concealed changes some looks
// only. Its certainty is the mean of those looks, which count at most 20 each.
func readHalf(looks []sight) sight {
	var sum [16]float32
	looks = looks[:min(perRead, len(looks))]
	for _, l := range looks {
		sum[l.value] += min(l.sure, 20)
	}
	var s sight
	for v, n := range sum {
		if n > s.sure {
			s = sight{byte(v), n}
		}
	}
	s.sure /= float32(len(looks))
	return s
}
