package bargein

// Follows a response through a recording: finds, for each 10 ms, which position of the response is audible, and at which level.

import (
	"math"
	"slices"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// Geometry of following a response through a recording, in samples of trackRate.
const (
	hop    = trackRate * 10 / 1000   // one step, and one cell of the reference
	near   = trackRate * 8 / 1000    // how far a position may be from the expected one
	wide   = trackRate * 300 / 1000  // the length of the piece that a search compares
	around = trackRate * 2500 / 1000 // how far from the expected position a search looks
	faint  = 0.003                   // the amplitude of the reference below which it counts as silence
)

// stateOf says what a step contains.
type stateOf uint8

const (
	unknown  stateOf = iota // not the response, or silence in place of the response
	vague                   // as loud as the response, but not similar enough: a codec changes a hiss
	pausing                 // the response has a pause here
	offLevel                // the response; after judge: the response below its usual level
	sounding                // the response at its usual level; only after judge
)

// step is 10 ms of a recording.
type step struct {
	place int // the position of its middle in the reference, in samples
	state stateOf
	gain  float64
}

// path says for each step of a recording which part of a response is audible in it.
type path struct {
	rec   *rig.Recording
	pcm   []float32
	steps []step
	t     *tracker
}

// follow finds, for each 10 ms of the recording, which position of the response is audible, and whether at its usual level.
func (t *tracker) follow(rec *rig.Recording) (*path, error) {
	pcm, err := tracked(rec.PCM, rec.Rate)
	if err != nil {
		return nil, err
	}
	p := &path{rec: rec, pcm: pcm, steps: make([]step, len(pcm)/hop), t: t}
	last, since, lost, locked := 0, 0, 0, false // since: the number of steps after the last recognised one
	for i := range p.steps {
		if !locked {
			place, found := p.search(i, last, last+(i-lost)*hop)
			if !found {
				continue
			}
			p.steps[i], locked, since = p.step(i, place), true, 0
			p.back(i)
			last = p.steps[i].place
			continue
		}
		p.steps[i] = p.step(i, last+hop)
		last, since = p.steps[i].place, since+1
		switch p.steps[i].state {
		case unknown, vague:
			if p.gone(p.steps[i+1-since : i+1]) {
				locked, last, lost = false, last-since*hop, i-since
			}
		case pausing, offLevel, sounding:
			p.clear(i-since+1, i)
			since = 0
		}
	}
	p.bridge()
	p.judge()
	return p, nil
}

// gone decides about steps that were not recognised. It returns true when the recording no longer follows the response at the
// expected position, and marks the steps as unknown then.
func (p *path) gone(steps []step) bool {
	different := 0
	for _, s := range steps {
		if s.state == unknown {
			different++
		}
	}
	if different < 3 && len(steps) < 25 {
		return false
	}
	for i := range steps {
		steps[i].state = unknown
	}
	return true
}

// clear marks vague steps as the response, because the response is recognised before and after them.
func (p *path) clear(from, to int) {
	for i := from; i < to; i++ {
		if p.steps[i].state == vague {
			p.steps[i].state, p.steps[i].gain = offLevel, p.steps[to].gain
		}
	}
}

// piece returns length samples of the recording around a step.
func (p *path) piece(i, length int) []float32 {
	middle := i*hop + hop/2
	return p.pcm[max(0, middle-length/2):min(len(p.pcm), middle+length/2)]
}

// step compares one step with the reference near the expected position of its middle.
func (p *path) step(i, expected int) step {
	length := p.t.window
	from := expected - length/2
	if from < 0 || from+length > len(p.t.reference) {
		return step{place: expected}
	}
	if amplitude(p.t.reference[from:from+length]) < faint {
		return step{place: expected, state: pausing}
	}
	piece := p.piece(i, length)
	if len(piece) < length {
		return step{place: expected}
	}
	m := p.t.best(piece, from-near, from+near)
	if m.like < surely {
		if ratio := amplitude(piece) / amplitude(p.t.reference[from:from+length]); ratio > 0.5 && ratio < 2 {
			return step{place: expected, state: vague}
		}
		return step{place: expected}
	}
	return step{place: m.place + length/2, state: offLevel, gain: m.gain}
}

// search finds the position of a step. It looks near the position where the response stopped and near the position that the response
// would have reached if it had gone on, then between the two, and only then further around, since a word may occur twice. It compares the
// sound after the step, because there may be silence before it. It accepts a position only if the following steps fit too.
func (p *path) search(i, stopped, goneOn int) (place int, found bool) {
	piece := p.pcm[i*hop : min(i*hop+wide, len(p.pcm))]
	if len(piece) < wide || amplitude(piece[:hop]) < faint {
		return 0, false
	}
	first, second := p.t.best(piece, stopped-around/2, stopped+around/8), p.t.best(piece, goneOn-around/8, goneOn+around/8)
	if second.like > first.like {
		first, second = second, first
	}
	for _, find := range []func() match{
		func() match { return first },
		func() match { return second },
		func() match { return p.t.best(piece, stopped, goneOn) },
		func() match { return p.t.best(piece, stopped-around, stopped+around) },
	} {
		if m := find(); p.fits(i, m) {
			return m.place + hop/2, true
		}
	}
	return 0, false
}

// fits reports whether the sound from a step on is surely the response from a match on.
func (p *path) fits(i int, m match) bool {
	if m.like < surely {
		return false
	}
	for ahead := 4; ahead <= 12; ahead += 4 {
		if s := p.step(min(i+ahead, len(p.steps)-1), m.place+hop/2+ahead*hop).state; s == unknown || s == vague {
			return false
		}
	}
	return true
}

// back follows the response backwards from a found step to its beginning. A silent step before counts as a pause only when sound of
// the response comes before it.
func (p *path) back(i int) {
	expected, certain := p.steps[i].place, i
	for j := i - 1; j >= 0 && p.steps[j].state == unknown; j-- {
		s := p.step(j, expected-hop)
		if s.state == unknown || s.state == vague {
			break
		}
		p.steps[j], expected = s, s.place
		if s.state == offLevel {
			certain = j
		}
		if certain-j > 30 {
			break
		}
	}
	for j := certain - 1; j >= 0 && p.steps[j].state == pausing; j-- {
		if j > 0 && p.steps[j-1].state == offLevel {
			break // forward recognition has already found this pause
		}
		p.steps[j] = step{place: p.steps[j].place}
	}
}

// bridge looks again at unrecognised steps between two recognised ones whose distance fits. The response went on there, and compare
// decides whether it was audible.
func (p *path) bridge() {
	last := -1
	for i, s := range p.steps {
		if s.state == unknown || s.state == vague {
			continue
		}
		if last >= 0 && i > last+1 && small(s.place-p.steps[last].place-(i-last)*hop) {
			for j := last + 1; j < i; j++ {
				p.steps[j] = p.compare(j, p.steps[last].place+(j-last)*hop)
			}
		}
		last = i
	}
}

// small reports whether a difference between two positions is small enough to come from an adaptive jitter buffer.
func small(samples int) bool { return samples < 5*near && samples > -5*near }

// compare decides by the level alone whether a position is audible.
func (p *path) compare(i, place int) step {
	from, length := place-p.t.window/2, p.t.window
	if from < 0 || from+length > len(p.t.reference) {
		return step{place: place}
	}
	there := amplitude(p.t.reference[from : from+length])
	ratio := amplitude(p.piece(i, length)) / max(there, 1e-6)
	switch {
	case there < faint:
		return step{place: place, state: pausing}
	case ratio > 0.5 && ratio < 2:
		return step{place: place, state: offLevel, gain: ratio}
	}
	return step{place: place}
}

// judge marks the steps that have the usual level of the response: at least half the median gain.
func (p *path) judge() {
	var gains []float64
	for _, s := range p.steps {
		if s.state == offLevel {
			gains = append(gains, s.gain)
		}
	}
	if len(gains) == 0 {
		return
	}
	slices.Sort(gains)
	full := gains[len(gains)/2]
	for i, s := range p.steps {
		if s.state == offLevel && s.gain >= full/2 {
			p.steps[i].state = sounding
		}
	}
}

func amplitude(x []float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(max(1, len(x))))
}

// index returns the step at a moment on the page's clock.
func (p *path) index(at float64) int {
	return min(p.rec.Sample(at)*trackRate/p.rec.Rate/hop, len(p.steps))
}

// moment returns the time of a step's middle on the page's clock.
func (p *path) moment(i int) float64 {
	return p.rec.At(min((i*hop+hop/2)*p.rec.Rate/trackRate, len(p.rec.PCM)-1))
}

// loud reports whether a cell of the reference has sound.
func (t *tracker) loud(cell int) bool {
	from := cell * hop
	return from >= 0 && from+hop <= len(t.reference) && amplitude(t.reference[from:from+hop]) >= 2*faint
}
