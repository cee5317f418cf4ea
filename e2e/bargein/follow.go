package main

// Follows a reply through a recording: finds for each 10 ms which position of the reply is heard, and at which level.

import (
	"math"
	"slices"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// Geometry of following a reply through a recording, in samples of trackRate.
const (
	hop    = trackRate * 10 / 1000  // one step, and one cell of the reference
	near   = trackRate * 8 / 1000   // the place may be so far from where it is expected
	wide   = trackRate * 300 / 1000 // of sound that is looked for all around
	around = trackRate * 2500 / 1000
	faint  = 0.003 // amplitude of the reference under which there is nothing to recognise
)

// stateOf is what a step is.
type stateOf uint8

const (
	unknown  stateOf = iota // not the reply, or silence where it should be
	vague                   // as loud as the reply, but not much like it: a codec keeps little of a hiss
	pausing                 // the reply pauses here
	lowered                 // the reply; after judge: but not at its level
	sounding                // the reply at its level
)

// step is 10 ms of a recording.
type step struct {
	place int // of its middle in the reference
	state stateOf
	gain  float64
}

// path is a reply's way through a recording.
type path struct {
	rec   *rig.Recording
	pcm   []float32
	steps []step
	t     *tracker
}

// follow finds for each 10 ms of the recording which place of the reply is heard, and whether at its level.
func (t *tracker) follow(rec *rig.Recording) (*path, error) {
	pcm, err := tracked(rec.PCM, rec.Rate)
	if err != nil {
		return nil, err
	}
	p := &path{rec: rec, pcm: pcm, steps: make([]step, len(pcm)/hop), t: t}
	last, since, lost, locked := 0, 0, 0, false // since: the steps after the last that was recognised
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
		case pausing, lowered, sounding:
			p.clear(i-since+1, i)
			since = 0
		}
	}
	p.bridge()
	p.judge()
	return p, nil
}

// gone says of steps that were not recognised whether the reply is no longer where it was followed to. If so they are not it.
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

// clear takes vague steps for the reply: it is there before and after them.
func (p *path) clear(from, to int) {
	for i := from; i < to; i++ {
		if p.steps[i].state == vague {
			p.steps[i].state, p.steps[i].gain = lowered, p.steps[to].gain
		}
	}
}

// piece is the sound around a step.
func (p *path) piece(i, length int) []float32 {
	middle := i*hop + hop/2
	return p.pcm[max(0, middle-length/2):min(len(p.pcm), middle+length/2)]
}

// step recognises a step near the place where its middle is expected.
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
	return step{place: m.place + length/2, state: lowered, gain: m.gain}
}

// search looks for a step: where the reply stopped, where it would be if it had gone on, and only then all around, since the same word
// may be said twice. It looks at what follows: before it there may be silence in the middle of a word. A wrong place is given away by
// what comes then.
func (p *path) search(i, stopped, goneOn int) (place int, found bool) {
	piece := p.pcm[i*hop : min(i*hop+wide, len(p.pcm))]
	if len(piece) < wide || amplitude(piece[:hop]) < faint {
		return 0, false
	}
	m := p.t.best(piece, stopped-around/2, stopped+around/8)
	if on := p.t.best(piece, goneOn-around/8, goneOn+around/8); on.like > m.like {
		m = on
	}
	if m.like < surely {
		m = p.t.best(piece, stopped-around, stopped+around)
	}
	place = m.place + hop/2
	if m.like < surely {
		return 0, false
	}
	for ahead := 4; ahead <= 12; ahead += 4 {
		if s := p.step(min(i+ahead, len(p.steps)-1), place+ahead*hop).state; s == unknown || s == vague {
			return 0, false
		}
	}
	return place, true
}

// back follows the reply from a step that was found to where it began. Silence there may be a pause of the reply's, or not be it.
func (p *path) back(i int) {
	expected, certain := p.steps[i].place, i
	for j := i - 1; j >= 0 && p.steps[j].state == unknown; j-- {
		s := p.step(j, expected-hop)
		if s.state == unknown || s.state == vague {
			break
		}
		p.steps[j], expected = s, s.place
		if s.state == lowered {
			certain = j
		}
		if certain-j > 30 {
			break
		}
	}
	for j := certain - 1; j >= 0 && p.steps[j].state == pausing; j-- {
		if j > 0 && p.steps[j-1].state == lowered {
			break // the pause had been recognised from before
		}
		p.steps[j] = step{place: p.steps[j].place}
	}
}

// bridge looks again at what was not recognised between two steps that fit together: the reply went on there, whether it was heard or not.
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

// small says of a distance between two places whether it is no more than what a buffer that adapts stretches.
func small(samples int) bool { return samples < 5*near && samples > -5*near }

// compare tells by the level alone whether a place is heard.
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
		return step{place: place, state: lowered, gain: ratio}
	}
	return step{place: place}
}

// judge says which steps have the level that the reply has most of the time.
func (p *path) judge() {
	var gains []float64
	for _, s := range p.steps {
		if s.state == lowered {
			gains = append(gains, s.gain)
		}
	}
	if len(gains) == 0 {
		return
	}
	slices.Sort(gains)
	full := gains[len(gains)/2]
	for i, s := range p.steps {
		if s.state == lowered && s.gain >= full/2 {
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

// index is the step of a moment on the page's clock.
func (p *path) index(at float64) int {
	return min(p.rec.Sample(at)*trackRate/p.rec.Rate/hop, len(p.steps))
}

// moment is that of a step's middle, on the page's clock.
func (p *path) moment(i int) float64 {
	return p.rec.At(min((i*hop+hop/2)*p.rec.Rate/trackRate, len(p.rec.PCM)-1))
}

// loud says of a cell of the reference whether there is something to hear.
func (t *tracker) loud(cell int) bool {
	from := cell * hop
	return from >= 0 && from+hop <= len(t.reference) && amplitude(t.reference[from:from+hop]) >= 2*faint
}
