package scripted

// This file reads text from tones.

import (
	"math"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Sizes of the demodulator, at 16 kHz. A look is one measurement of a window of sound.
const (
	inPeriod  = pipeline.InputRate / pitch    // samples: 128
	hop       = pipeline.InputRate * 5 / 1000 // samples between two looks: 5 ms
	window    = 2 * inPeriod                  // samples of one look: 16 ms
	perSymbol = symbolMS / 5                  // hops
	clearly   = 1.6                           // least ratio of the power of the strongest formant to the next one
	silence   = 1e-6                          // power below which a look contains no symbol
)

// sight is the result of one look.
type sight struct {
	value byte
	sure  float32 // ratio of the strongest formant to the next one, the smaller of both groups; 0: silence
}

// analyser measures formants. It contains only tables.
type analyser struct {
	cos, sin [lastHarmonic + 1][inPeriod]float32
}

func newAnalyser() *analyser {
	a := &analyser{}
	for k := range a.cos {
		for i := range inPeriod {
			w := 2 * math.Pi * float64(k*i) / inPeriod
			a.cos[k][i], a.sin[k][i] = float32(math.Cos(w)), float32(math.Sin(w))
		}
	}
	return a
}

// power returns the power of a harmonic in one period of sound.
func (a *analyser) power(x *[inPeriod]float32, k int) float32 {
	var re, im float32
	for i, v := range x {
		re += v * a.cos[k][i]
		im += v * a.sin[k][i]
	}
	return (re*re + im*im) / (inPeriod * inPeriod)
}

// see returns the symbol in window samples.
func (a *analyser) see(pcm []float32) sight {
	var x [inPeriod]float32
	for i := range x { // the average keeps sound that repeats with the pitch and weakens other sound
		x[i] = (pcm[i] + pcm[i+inPeriod]) / 2
	}
	lo, loSure := a.best(&x, func(i int) int { return lowFormant(byte(i) << 2) })
	hi, hiSure := a.best(&x, func(i int) int { return highFormant(byte(i)) })
	return sight{value: byte(lo<<2 | hi), sure: min(loSure, hiSure)}
}

// best returns the strongest of the four formants of a group.
func (a *analyser) best(x *[inPeriod]float32, first func(int) int) (n int, sure float32) {
	var top, next float32
	for i := range 4 {
		k := first(i)
		p := a.power(x, k) + a.power(x, k+1)
		switch {
		case p > top:
			top, next, n = p, top, i
		case p > next:
			next = p
		}
	}
	if top < silence {
		return n, 0
	}
	return n, top / (next + silence/100)
}

// demodulator finds the messages of Tones in sound that comes in pieces.
type demodulator struct {
	analyser *analyser
	tail     []float32 // the sound from the next look on
	sights   []sight   // one for each hop; old ones are removed
	base     int       // number of sights that were removed

	at      int  // hop at which the search or the message continues
	synced  bool // the position is inside a message
	got     int  // number of symbols of the payload that were read
	payload []byte
	goesOn  bool // this message continues the text of the one before

	done    []byte // text of all complete messages
	corrupt bool   // at least one message could not be read to its end
}

// write takes sound and reports whether a text was completed in it.
func (d *demodulator) write(pcm []float32) (completed bool) {
	d.tail = append(d.tail, pcm...)
	n := 0
	for ; n+window <= len(d.tail); n += hop {
		d.sights = append(d.sights, d.analyser.see(d.tail[n:n+window]))
	}
	d.tail = d.tail[:copy(d.tail, d.tail[n:])]
	for {
		step, end := d.step()
		completed = completed || end
		if !step {
			break
		}
	}
	if free := d.at - d.base - 2*perSymbol; free > 256 {
		d.sights = d.sights[:copy(d.sights, d.sights[free:])]
		d.base += free
	}
	return completed
}

func (d *demodulator) sight(h int) sight { return d.sights[h-d.base] }

func (d *demodulator) seen() int { return d.base + len(d.sights) }

// step searches at one hop or reads one symbol. more: another step is possible. completed: a text is complete.
func (d *demodulator) step() (more, completed bool) {
	if !d.synced {
		return d.search(), false
	}
	if d.at >= d.seen() {
		return false, false
	}
	s := d.sight(d.at)
	d.at += perSymbol
	if s.sure < clearly {
		d.drop()
		return true, false
	}
	if d.got%2 == 0 {
		d.payload = append(d.payload, s.value<<4)
	} else {
		d.payload[d.got/2] |= s.value
	}
	d.got++
	want := 2 + int(d.payload[0]&^follows) // length, text, CRC
	if d.got < 2 || d.got < 2*want {
		return true, false
	}
	return true, d.complete(want)
}

// search looks for the sync word at one hop.
func (d *demodulator) search() (more bool) {
	const span = 3 * perSymbol
	if d.at+span+2 >= d.seen() {
		return false
	}
	if d.syncAt(d.at) <= 0 {
		d.at++
		return true
	}
	best, sure := d.at, d.syncAt(d.at)
	for h := d.at + 1; h <= d.at+2; h++ { // the looks in the middle of the symbols are the most certain
		if s := d.syncAt(h); s > sure {
			best, sure = h, s
		}
	}
	d.at = best + 4*perSymbol
	d.synced, d.got, d.payload = true, 0, d.payload[:0]
	return true
}

// syncAt returns how certain it is that the sync word begins at a hop; 0: it does not begin there.
func (d *demodulator) syncAt(h int) float32 {
	sure := float32(math.MaxFloat32)
	for i, v := range syncWord() {
		if h+i*perSymbol >= d.seen() {
			return 0
		}
		s := d.sight(h + i*perSymbol)
		if s.value != v || s.sure < clearly {
			return 0
		}
		sure = min(sure, s.sure)
	}
	return sure
}

// complete ends a message of n bytes. It reports whether the text is complete, too.
func (d *demodulator) complete(n int) bool {
	if crc8(d.payload[:n-1]) != d.payload[n-1] {
		d.drop()
		return false
	}
	d.join()
	d.done = append(d.done, d.payload[1:n-1]...)
	d.goesOn = d.payload[0]&follows != 0
	d.synced = false
	return !d.goesOn
}

// drop abandons a message that cannot be read.
func (d *demodulator) drop() {
	d.synced, d.goesOn, d.corrupt = false, false, true
}

func (d *demodulator) join() {
	if len(d.done) > 0 && !d.goesOn {
		d.done = append(d.done, ' ')
	}
}

// text returns the text so far, with that of the unfinished message.
func (d *demodulator) text() string {
	t := string(d.done)
	if !d.synced || d.got < 4 {
		return t
	}
	part := d.payload[1:]
	part = part[:min(len(part), int(d.payload[0]&^follows))]
	if d.got%2 == 1 && len(d.payload)-1 <= int(d.payload[0]&^follows) {
		part = part[:len(part)-1]
	}
	for len(part) > 0 && !utf8.Valid(part) {
		part = part[:len(part)-1]
	}
	if t != "" && !d.goesOn {
		t += " "
	}
	return t + string(part)
}
