package main

// The power of any stretch of a recording, from sums that are computed once.

import (
	"math"
	"slices"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// levels finds the power of any stretch of a recording at once.
type levels struct {
	rec *rig.Recording
	sum []float64 // of squares, before each sample
}

func newLevels(rec *rig.Recording) *levels {
	l := &levels{rec: rec, sum: make([]float64, len(rec.PCM)+1)}
	for i, v := range rec.PCM {
		f := float64(v) / 32768
		l.sum[i+1] = l.sum[i] + f*f
	}
	return l
}

// db is the level between two samples, in dBFS, -120 at least.
func (l *levels) db(from, to int) float64 {
	from, to = max(0, from), min(to, len(l.rec.PCM))
	if from >= to {
		return -120
	}
	return max(-120, 10*math.Log10((l.sum[to]-l.sum[from])/float64(to-from)))
}

// ms is a number of samples.
func (l *levels) ms(n int) int { return n * l.rec.Rate / 1000 }

// below finds the first moment from a moment on, in ms on the page's clock, from which the sound stays under a level for so many ms.
// It looks through windows of one period of the tones' pitch.
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

// period of the pitch of the scripted voice, in ms.
const period = 8

// A voice that is so many dB under its level for so many ms is silent.
const (
	nothing = 40
	quiet   = 150
)

// full is the level of the reply before an onset.
func (l *levels) full(onset float64) float64 {
	return l.db(l.rec.Sample(onset-400), l.rec.Sample(onset-20))
}

// last finds between which moments the reply that is heard at the onset sounded without a silence, the last time before another one:
// from the onset on where it has not been silent since.
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
				end = at + step // what is behind it is as good as nothing
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

// cut is how an interrupted reply fell silent, in ms after the onset of the interruption.
type cut struct{ ducked, silent float64 }

// measureCut needs a voice without pauses.
func measureCut(rec *rig.Recording, onset float64) (cut, bool) {
	l := newLevels(rec)
	full := l.full(onset)
	if full < -30 {
		return cut{}, false // there was nothing to interrupt
	}
	ducked, ok1 := l.below(onset, full-19, 60)
	silent, ok2 := l.below(onset, full-nothing, quiet)
	return cut{ducked - onset, silent - onset}, ok1 && ok2
}

// audible is the level from which on a sound counts as begun: 20 dB under what people say here.
const audible = 0.01

// onset is how far into a sound its first 10 ms are that are audible, in ms.
func onset(s rig.Sound) float64 {
	for i, level := range rig.Envelope(s, rig.SpeechRate) {
		if level >= audible {
			return float64(i * rig.Cell)
		}
	}
	return 0
}

// quantile is the value below which the share q (0 to 1) of the values lies; NaN of none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
