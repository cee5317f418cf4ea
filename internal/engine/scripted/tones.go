package scripted

// This file makes tones from text.

import (
	"math"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// The tone code. A symbol is a voiced sound with a pitch of 125 Hz, one of four low and one of four high formants: sixteen
// values, half a byte. All symbols have the same pitch and the same weak harmonics, so that a voice detector takes them for speech
// and speech codecs keep the formants. A message of [Tones] is
//
//	8 lead-in symbols (0, 15, 0, 15 …)  4 sync symbols (3, 12, 6, 9)  length  bytes of UTF-8, high half first  CRC-8  2 trailing symbols
//
// at 30 ms a symbol. The length byte counts the bytes of this message (at most 127), and its top bit says that another
// message follows that continues the text. The CRC is over length and bytes.
const (
	pitch    = 125                         // Hz
	period   = pipeline.OutputRate / pitch // samples: 192
	symbolMS = 30                          // the length of one symbol of a message
	symbol   = pipeline.OutputRate * symbolMS / 1000
	fade     = pipeline.OutputRate * 5 / 1000 // samples of the transition between two symbols

	leadIn     = 8
	trail      = 2
	maxMessage = 127  // bytes of text in one message
	follows    = 0x80 // in the length byte: another message continues the text
	loudness   = 0.25 // approximate peak amplitude of a symbol
	weak       = 0.12 // amplitude of a weak harmonic, relative to that of a formant
)

func syncWord() [4]byte { return [4]byte{3, 12, 6, 9} }

// formants of the low and the high group: each is two harmonics of the pitch, the first of which is given.
func lowFormant(v byte) int  { return 2 + 2*int(v>>2) }
func highFormant(v byte) int { return 11 + 3*int(v&3) }

const lastHarmonic = 24 // 3 kHz

// waves returns one period of each symbol, in [-1, 1].
func waves() *[16][period]float32 {
	var w [16][period]float32
	for v := range byte(16) {
		lo, hi := lowFormant(v), highFormant(v)
		for k := 1; k <= lastHarmonic; k++ {
			a := weak
			if k == lo || k == lo+1 || k == hi || k == hi+1 {
				a = 1
			}
			phase := -math.Pi * float64(k*k) / lastHarmonic // spreads the energy over the period
			for i := range period {
				w[v][i] += float32(loudness / 2 * a * math.Sin(2*math.Pi*float64(k*i)/period+phase))
			}
		}
	}
	return &w
}

// Tones returns speech from which the scripted recogniser reads the text: mono at 24 kHz, without silence at its ends. A voice
// detector takes it for speech. It can be read after Opus and after resampling.
func Tones(text string) []int16 {
	r := newTones(waves(), text)
	out := make([]int16, r.left())
	r.read(out)
	return out
}

func newTones(w *[16][period]float32, text string) *renderer {
	r := &renderer{waves: w, pair: 2 * symbol}
	for first := true; first || text != ""; first = false {
		n := min(len(text), maxMessage)
		for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		r.symbols = append(r.symbols, message(text[:n], n < len(text))...)
		text = text[n:]
	}
	return r
}

func message(text string, more bool) []byte {
	length := byte(len(text))
	if more {
		length |= follows
	}
	payload := append([]byte{length}, text...)
	payload = append(payload, crc8(payload))
	var s []byte
	for i := range leadIn {
		s = append(s, byte(i%2)*15)
	}
	sync := syncWord()
	s = append(s, sync[:]...)
	for _, b := range payload {
		s = append(s, b>>4, b&15)
	}
	for range trail {
		s = append(s, 0)
	}
	return s
}

// crc8 returns the CRC with the polynomial x^8+x^2+x+1 and the initial value 0xff.
func crc8(b []byte) byte {
	c := byte(0xff)
	for _, v := range b {
		c ^= v
		for range 8 {
			if c&0x80 != 0 {
				c = c<<1 ^ 0x07
			} else {
				c <<= 1
			}
		}
	}
	return c
}

// renderer renders symbols to audio, piece by piece. Two symbols take exactly pair samples, because one symbol may have no whole
// number of samples.
type renderer struct {
	waves   *[16][period]float32
	pair    int // samples of two symbols
	symbols []byte
	pos     int // samples rendered so far
	at      int // symbol at pos
}

func (r *renderer) start(symbol int) int { return symbol * r.pair / 2 }

func (r *renderer) left() int { return r.start(len(r.symbols)) - r.pos }

// read renders the next samples into dst and returns their number.
func (r *renderer) read(dst []int16) int {
	n := min(len(dst), r.left())
	edge := min(fade, r.pair/2)
	for i := range n {
		for r.pos >= r.start(r.at+1) {
			r.at++
		}
		in, phase := r.pos-r.start(r.at), r.pos%period
		v := r.waves[r.symbols[r.at]][phase]
		if in < edge {
			g := float32(in) / float32(edge)
			v *= g
			if r.at > 0 {
				v += (1 - g) * r.waves[r.symbols[r.at-1]][phase]
			}
		}
		if end := r.left(); end < edge {
			v *= float32(end) / float32(edge)
		}
		dst[i] = int16(v * math.MaxInt16)
		r.pos++
	}
	return n
}

// newSpeech returns the renderer of a spoken answer. Each character takes cell samples, for the two halves of its byte. A character
// that is not ASCII is rendered as "?".
func newSpeech(w *[16][period]float32, text string, cell int) *renderer {
	r := &renderer{waves: w, pair: max(cell, 2)}
	for _, c := range text {
		if c >= utf8.RuneSelf {
			c = '?'
		}
		r.symbols = append(r.symbols, byte(c)>>4, byte(c)&15)
	}
	return r
}
