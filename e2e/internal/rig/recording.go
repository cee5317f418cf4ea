package rig

// A recording of the agent on the clock of the page.

import (
	"encoding/base64"
	"errors"
	"math"
	"sort"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

// Recording is the agent's sound that a page has received: the decoded samples in the order of arrival, with the time of each frame on
// the page's clock (performance.now()).
type Recording struct {
	Rate int
	PCM  []int16
	at   []float64 // ms, of the first sample of each frame
	from []int     // index of the first sample of each frame
}

// NewRecording makes a Recording of samples that came without a gap, from time 0 on.
func NewRecording(pcm []int16, rate int) *Recording {
	r := &Recording{Rate: rate, PCM: pcm}
	for at := 0; at < len(pcm); at += rate / 100 {
		r.at, r.from = append(r.at, 1000*float64(at)/float64(rate)), append(r.from, at)
	}
	return r
}

// raw is a Recording as a page gives it.
type raw struct {
	Rate    int
	PCM     string    // base64
	At, Got []float64 // of each frame: its time, and the time at which the page got it
	N       []int     // samples of each frame
}

func (r raw) decode() (*Recording, error) {
	pcm, err := base64.StdEncoding.DecodeString(r.PCM)
	if err != nil {
		return nil, err
	}
	rec := &Recording{Rate: r.Rate, PCM: voice.BytesToPCM16(nil, pcm), at: r.At, from: make([]int, len(r.N))}
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

// Envelope returns the loudness of each Cell of pcm: its RMS, 0 to 1.
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

// Time returns the time of a cell of the recording's envelope, on the page's clock in ms.
func (r *Recording) Time(cell int) float64 { return r.At(cell * r.Rate * Cell / 1000) }

// At returns the time of a sample, on the page's clock in ms.
func (r *Recording) At(sample int) float64 {
	i := max(0, sort.SearchInts(r.from, sample+1)-1)
	return r.at[i] + 1000*float64(sample-r.from[i])/float64(r.Rate)
}

// Sample returns the index of the sample at a time on the page's clock; the first or last one when the recording does not reach there.
func (r *Recording) Sample(at float64) int {
	i := max(0, sort.SearchFloat64s(r.at, at)-1)
	return min(max(0, r.from[i]+int((at-r.at[i])*float64(r.Rate)/1000)), len(r.PCM))
}

// Gaps returns how much sound is missing in the recording of a browser's output, in ms: a busy browser drops frames.
func (r *Recording) Gaps() float64 {
	const uncertain = 2 // ms: the error of a frame's time
	var sum float64
	for i := 1; i < len(r.from); i++ {
		length := 1000 * float64(r.from[i]-r.from[i-1]) / float64(r.Rate)
		if gap := r.at[i] - r.at[i-1] - length; gap > uncertain {
			sum += gap
		}
	}
	return sum
}
