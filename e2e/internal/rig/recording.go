package rig

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
)

// Recording is what a page has received of the agent's voice: the decoded samples in the order of their coming, with the moment of
// each frame on the page's clock (performance.now()).
type Recording struct {
	Rate int
	PCM  []int16
	at   []float64 // ms, of the first sample of each frame
	from []int     // index of the first sample of each frame
}

type rawRecording struct {
	Rate int
	PCM  string
	At   []float64
	N    []int
}

func (r rawRecording) decode() (*Recording, error) {
	raw, err := base64.StdEncoding.DecodeString(r.PCM)
	if err != nil {
		return nil, err
	}
	rec := &Recording{Rate: r.Rate, PCM: make([]int16, len(raw)/2), at: r.At, from: make([]int, len(r.N))}
	if _, err := binary.Decode(raw, binary.LittleEndian, rec.PCM); err != nil {
		return nil, err
	}
	at := 0
	for i, n := range r.N {
		rec.from[i] = at
		at += n
	}
	if at != len(rec.PCM) || len(r.At) != len(r.N) {
		return nil, errors.New("the page's recording does not add up")
	}
	return rec, nil
}

// Cell is the length of one value of an envelope, in milliseconds.
const Cell = 10

// Envelope is the loudness of each Cell of pcm: its RMS, 0 to 1.
func Envelope(pcm []int16, rate int) []float64 {
	size := rate * Cell / 1000
	cells := make([]float64, 0, len(pcm)/size)
	for len(pcm) >= size {
		var sum float64
		for _, v := range pcm[:size] {
			f := float64(v) / 32768
			sum += f * f
		}
		cells = append(cells, math.Sqrt(sum/float64(size)))
		pcm = pcm[size:]
	}
	return cells
}

// Loud is the level above which a Cell is sound: -44 dBFS.
const Loud = 0.006

// Time is the moment of a cell of the recording's envelope, on the page's clock.
func (r *Recording) Time(cell int) float64 {
	sample := cell * r.Rate * Cell / 1000
	lo, hi := 0, len(r.from)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; r.from[mid] <= sample {
			lo = mid
		} else {
			hi = mid
		}
	}
	return r.at[lo] + 1000*float64(sample-r.from[lo])/float64(r.Rate)
}

// Locate finds where in reference the envelope part lies: the offset, in cells, with the highest correlation (-1 to 1).
func Locate(reference, part []float64) (offset int, correlation float64) {
	correlation = -1
	for at := 0; at+len(part) <= len(reference); at++ {
		if c := correlate(reference[at:at+len(part)], part); c > correlation {
			offset, correlation = at, c
		}
	}
	return offset, correlation
}

func correlate(a, b []float64) float64 {
	var meanA, meanB float64
	for i := range a {
		meanA += a[i]
		meanB += b[i]
	}
	meanA /= float64(len(a))
	meanB /= float64(len(b))
	var ab, aa, bb float64
	for i := range a {
		da, db := a[i]-meanA, b[i]-meanB
		ab += da * db
		aa += da * da
		bb += db * db
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}
