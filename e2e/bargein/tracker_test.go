package bargein

// Recognises which position of a response a short piece of sound comes from, by correlation with the reference.

import (
	"math"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// trackRate is the sample rate of all comparisons, in hertz. It is enough to distinguish stretches of speech.
const trackRate = 8000

// The lengths of the pieces that are compared, in ms: the tones repeat within 8 ms and differ from one character of 60 ms to the next.
const (
	tonesWindow  = 210
	speechWindow = 60
)

// tracker finds which position of a response is audible in a piece of a recording. Its reference is the response's audio from the
// server. Safe for concurrent use.
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

// tracked resamples PCM to trackRate, as samples in [-1, 1].
func tracked(pcm []int16, rate int) ([]float32, error) {
	r, err := voice.NewResampler(rate, trackRate)
	if err != nil {
		return nil, err
	}
	return r.Flush(r.Append(nil, voice.PCM16ToFloat(nil, pcm))), nil
}

// match is the position of the reference that is most similar to a piece of a recording.
type match struct {
	place int     // the position in the reference, in samples
	like  float64 // the correlation, from 0 to 1
	gain  float64 // the amplitude of the piece relative to the reference
}

// best returns the position between from and to that is most similar to the piece.
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

// surely is the least correlation of a piece with a position that counts as found.
const surely = 0.7

// at returns the position of the response that is audible at a moment on the page's clock, in ms between from and to. It compares the
// sound directly before the moment. ok is false when that sound is not the response.
func (t *tracker) at(rec *rig.Recording, moment, from, to float64) (ms float64, ok bool) {
	return t.between(rec, moment-1000*float64(t.window)/trackRate, moment, from, to)
}

// between is at where the response is audible only from begin on.
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

// ended returns the last position of a response that was audible at the end, in ms. The response was audible between the moments from
// and to, and at the position atLevel when it was ducked. After a rejected candidate it was audible again after the silence of c, from
// about the position where it was ducked or held. When it was stopped before that, the ducked part counts as not heard, because it was
// to be played again.
func (t *tracker) ended(rec *rig.Recording, from, to, onset, atLevel float64, c cut, rejected bool) (ms float64, ok bool) {
	ducked := c.silent - c.ducked
	switch {
	case from <= onset && rejected:
		return atLevel, true
	case from <= onset: // the response was ducked and went on until the silence
		return t.at(rec, to, atLevel-50, atLevel+ducked+100)
	}
	sounded := to - from
	if ms, ok = t.between(rec, from, to, atLevel+sounded-60, atLevel+sounded+40); ok {
		return ms, ok
	}
	return t.between(rec, from, to, atLevel+sounded-200, atLevel+sounded+ducked+100)
}

// levelled scales each audible 10 ms of a piece to the same level, so that at finds positions while the response is ducked.
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
