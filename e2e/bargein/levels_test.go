package bargein

// The power of any stretch of a recording, from sums that are computed once.

import (
	"math"
	"slices"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// levels returns the power of any stretch of a recording without reading its samples again.
type levels struct {
	rec *rig.Recording
	sum []float64 // by sample: the sum of the squares of all samples before it
}

func newLevels(rec *rig.Recording) *levels {
	l := &levels{rec: rec, sum: make([]float64, len(rec.PCM)+1)}
	for i, v := range rec.PCM {
		f := float64(v) / 32768
		l.sum[i+1] = l.sum[i] + f*f
	}
	return l
}

// db returns the level between two samples, in dBFS, -120 at least.
func (l *levels) db(from, to int) float64 {
	from, to = max(0, from), min(to, len(l.rec.PCM))
	if from >= to {
		return -120
	}
	return max(-120, 10*math.Log10((l.sum[to]-l.sum[from])/float64(to-from)))
}

// ms returns the number of samples in n milliseconds.
func (l *levels) ms(n int) int { return n * l.rec.Rate / 1000 }

// below returns the first moment after from at which the level falls below dbfs and stays there for forMS milliseconds. Moments are in
// ms on the page's clock. It measures in windows of one period of the tones' pitch.
func (l *levels) below(from, dbfs float64, forMS int) (float64, bool) {
	window, quiet := l.ms(period), 0
	begin := l.rec.Sample(from)
	for at := begin; at+window <= len(l.rec.PCM); at += l.ms(1) {
		if l.db(at, at+window) > dbfs {
			quiet = 0
			continue
		}
		if quiet++; quiet >= forMS {
			return l.rec.At(at - (quiet-1)*l.ms(1)), true
		}
	}
	return 0, false
}

// period is the period of the scripted synthesizer's pitch, in ms.
const period = 8

// A response counts as silent when it is nothing dB below its level for quiet ms.
const (
	nothing = 40
	quiet   = 150
)

// full returns the level of the response before an onset, in dBFS.
func (l *levels) full(onset float64) float64 {
	return l.db(l.rec.Sample(onset-400), l.rec.Sample(onset-20))
}

// last returns the last stretch without silence, before until, in which the response that was audible at the onset was audible again. The
// stretch begins at the onset if the response has not been silent since.
func (l *levels) last(onset, until float64) (from, to float64, ok bool) {
	silent := l.full(onset) - nothing
	window, step := l.ms(period), l.ms(1)
	begin, end, still := l.rec.Sample(onset), 0, 0
	at := l.rec.Sample(until) - window
	for ; at >= begin && still < quiet; at -= step {
		switch {
		case l.db(at, at+window) > silent:
			still = 0
			if end == 0 {
				end = at + step // the sound after it is too short to count
			}
		case end != 0:
			still++
		}
	}
	switch {
	case end == 0:
		return 0, 0, false
	case still < quiet:
		return onset, l.rec.At(end), true
	}
	return l.rec.At(at + still*step + window), l.rec.At(end), true
}

// cut has the moments at which an interrupted response was ducked and silent, in ms after the onset of the interruption.
type cut struct{ ducked, silent float64 }

// measureCut measures the cut of a response. The response must not have pauses.
func measureCut(rec *rig.Recording, onset float64) (cut, bool) {
	l := newLevels(rec)
	full := l.full(onset)
	if full < -30 {
		return cut{}, false // no response was audible
	}
	ducked, ok1 := l.below(onset, full-19, 60)
	silent, ok2 := l.below(onset, full-nothing, quiet)
	return cut{ducked - onset, silent - onset}, ok1 && ok2
}

// audible is the amplitude from which on a sound counts as begun: 20 dB below the speech of these tests.
const audible = 0.01

// onset returns the position of the first audible 10 ms of a sound, in ms.
func onset(s rig.Sound) float64 {
	for i, level := range rig.Envelope(s, rig.SpeechRate) {
		if level >= audible {
			return float64(i * rig.Cell)
		}
	}
	return 0
}

// quantile returns the value below which the share q (0 to 1) of the values lies; NaN of none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
