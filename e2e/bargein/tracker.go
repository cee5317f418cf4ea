package main

// Recognises which position of a reply a short piece of sound comes from, by correlation with the reference.

import (
	"math"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/voice"
)

// trackRate is enough to tell one stretch of speech from another, in samples a second.
const trackRate = 8000

// Windows in which a place is recognised, in ms: the tones repeat within 8 ms and differ from one character of 60 ms to the next.
const (
	tonesWindow  = 210
	speechWindow = 60
)

// tracker says which place of a reply is heard. Its reference is the reply as the server made it. It is safe for concurrent use.
type tracker struct {
	reference []float32
	energy    []float64 // sums of squares, before each sample
	window    int       // samples
}

func newTracker(reference []float32, windowMS int) *tracker {
	return &tracker{reference: reference, energy: squares(reference), window: windowMS * trackRate / 1000}
}

func squares(x []float32) []float64 {
	sum := make([]float64, len(x)+1)
	for i, v := range x {
		sum[i+1] = sum[i] + float64(v)*float64(v)
	}
	return sum
}

// tracked makes PCM of a rate what the tracker compares.
func tracked(pcm []int16, rate int) ([]float32, error) {
	r, err := voice.NewResampler(rate, trackRate)
	if err != nil {
		return nil, err
	}
	return r.Flush(r.Append(nil, voice.PCM16ToFloat(nil, pcm))), nil
}

// match is a place of the reference that sounds like a piece of a recording.
type match struct {
	place int     // sample of the reference
	like  float64 // 0 to 1
	gain  float64 // level of the piece over the reference's
}

// best finds the place between from and to at which the piece fits best.
func (t *tracker) best(piece []float32, from, to int) match {
	var own float64
	for _, v := range piece {
		own += float64(v) * float64(v)
	}
	found := match{place: from}
	for at := max(0, from); at <= to && at+len(piece) <= len(t.reference); at++ {
		energy := t.energy[at+len(piece)] - t.energy[at]
		if energy < 1e-6 || own < 1e-9 {
			continue
		}
		var dot float32
		there := t.reference[at : at+len(piece)]
		for i, v := range piece {
			dot += v * there[i]
		}
		if like := float64(dot) / math.Sqrt(energy*own); like > found.like {
			found = match{at, like, float64(dot) / energy}
		}
	}
	return found
}

// surely is how much a piece must be like a place to be that place.
const surely = 0.7

// at gives the place, in ms of the reply and between two others, that is heard at a moment on the page's clock; ok is false when what is
// heard then is not the reply. The sound just before the moment tells.
func (t *tracker) at(rec *rig.Recording, moment, from, to float64) (ms float64, ok bool) {
	return t.between(rec, moment-1000*float64(t.window)/trackRate, moment, from, to)
}

// between is at for a moment before which the reply is heard from begin on only.
func (t *tracker) between(rec *rig.Recording, begin, moment, from, to float64) (ms float64, ok bool) {
	end := rec.Sample(moment)
	length := min(t.window*rec.Rate/trackRate, int((moment-begin)*float64(rec.Rate)/1000+0.5))
	if length <= 0 || end < length {
		return 0, false
	}
	piece, err := tracked(rec.PCM[end-length:end], rec.Rate)
	if err != nil {
		return 0, false
	}
	piece = levelled(piece[:min(t.window, len(piece))])
	m := t.best(piece, int(from*trackRate/1000)-len(piece), int(to*trackRate/1000)-len(piece))
	return 1000 * float64(m.place+len(piece)) / trackRate, m.like >= surely
}

// ended is the place at which a reply was heard last: it sounded between two moments, and was at atLevel when it was lowered. A reply
// whose candidate was rejected has sounded again behind the silence of c, from about where it was lowered on or from where it was held;
// where it was stopped before it did, what was lowered is what was to be said again.
func (t *tracker) ended(rec *rig.Recording, from, to, onset, atLevel float64, c cut, rejected bool) (ms float64, ok bool) {
	lowered := c.silent - c.ducked
	switch {
	case from <= onset && rejected:
		return atLevel, true
	case from <= onset: // lowered it went on for as long as it was, and no longer
		return t.at(rec, to, atLevel-50, atLevel+lowered+100)
	}
	sounded := to - from
	if ms, ok = t.between(rec, from, to, atLevel+sounded-60, atLevel+sounded+40); ok {
		return ms, ok
	}
	return t.between(rec, from, to, atLevel+sounded-200, atLevel+sounded+lowered+100)
}

// levelled is a piece in which each 10 ms that can be heard are as loud as the others, so that a place is found while the reply is lowered.
func levelled(x []float32) []float32 {
	out := append([]float32(nil), x...)
	for from := 0; from < len(out); from += hop {
		part := out[from:min(from+hop, len(out))]
		loud := amplitude(part)
		if loud < faint/3 {
			continue
		}
		for i := range part {
			part[i] *= float32(0.1 / loud)
		}
	}
	return out
}
