package voice

// Test signals, for example noise, hum and key strokes.

import "math"

// noise is a small deterministic generator (xorshift64*, S. Vigna, 2016) for test signals.
type noise struct{ state uint64 }

func newNoise(seed uint64) *noise { return &noise{state: seed*0x9E3779B97F4A7C15 + 1} }

func (n *noise) next() uint64 {
	n.state ^= n.state >> 12
	n.state ^= n.state << 25
	n.state ^= n.state >> 27
	return n.state * 0x2545F4914F6CDD1D
}

// uniform returns a value in [0, 1).
func (n *noise) uniform() float64 { return float64(n.next()>>11) / (1 << 53) }

func (n *noise) between(a, b float64) float64 { return a + (b-a)*n.uniform() }

// white returns a sample of white noise with an RMS of 1, nearly Gaussian.
func (n *noise) white() float32 {
	var sum float64
	for range 12 {
		sum += n.uniform()
	}
	return float32(sum - 6)
}

func samplesFor(seconds float64) int { return int(seconds*FrameRate+0.5) / FrameSize * FrameSize }

func quiet(seconds float64) []float32 { return make([]float32, samplesFor(seconds)) }

func concat(parts ...[]float32) []float32 {
	var all []float32
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func add(a, b []float32) []float32 {
	sum := make([]float32, len(a))
	for i := range a {
		sum[i] = a[i] + b[i%len(b)]
	}
	return sum
}

// atLevel scales x to an RMS of level dBFS.
func atLevel(level float64, x []float32) []float32 {
	gain := Amplitude(float32(level)) / max(RMS(x), 1e-9)
	scaled := make([]float32, len(x))
	for i := range x {
		scaled[i] = x[i] * gain
	}
	return scaled
}

func generate(seconds float64, f func(i int, t float64) float64) []float32 {
	x := make([]float32, samplesFor(seconds))
	for i := range x {
		x[i] = float32(f(i, float64(i)/FrameRate))
	}
	return x
}

func whiteNoise(seed uint64, seconds, rms float64) []float32 {
	n := newNoise(seed)
	return generate(seconds, func(int, float64) float64 { return rms * float64(n.white()) })
}

// rumble is noise that falls by 6 dB an octave, as a fan or a car makes.
func rumble(seed uint64, seconds float64) []float32 {
	n := newNoise(seed)
	var y float64
	return generate(seconds, func(int, float64) float64 {
		y = 0.98*y + float64(n.white())
		return y
	})
}

// hum is mains hum with its harmonics and a little noise.
func hum(frequency, seconds float64) []float32 {
	n := newNoise(9)
	return generate(seconds, func(_ int, t float64) float64 {
		y := 0.002 * float64(n.white())
		for k, a := range []float64{1, 0.5, 0.35, 0.2, 0.15, 0.08, 0.06} {
			y += a * math.Sin(2*math.Pi*frequency*float64(k+1)*t+float64(k*k))
		}
		return y
	})
}

func tone(frequency, seconds float64) []float32 {
	return generate(seconds, func(_ int, t float64) float64 { return math.Sin(2 * math.Pi * frequency * t) })
}

// repeated makes seconds of sound in which an event starts every least to three times least seconds.
func repeated(seed uint64, seconds, least float64, event func(n *noise, x []float32)) []float32 {
	n := newNoise(seed)
	x := make([]float32, samplesFor(seconds))
	for at := 0; at < len(x); at += int(n.between(least, 3*least) * FrameRate) {
		event(n, x[at:])
	}
	return x
}

func click(_ *noise, x []float32) {
	if len(x) > 1 {
		x[0] += 0.8
		x[1] -= 0.8
	}
}

// keyStroke is the snap of a key, the knock that the desk answers with, and the key coming up again.
func keyStroke(n *noise, x []float32) {
	strike(n, x, n.between(2, 5), n.between(1500, 5500), n.between(0.5, 1))
	strike(n, x, n.between(8, 15), n.between(100, 300), n.between(0.1, 0.3))
	if up := int(n.between(0.05, 0.08) * FrameRate); up < len(x) {
		strike(n, x[up:], n.between(1, 3), n.between(2000, 5000), n.between(0.2, 0.4))
	}
}

// strike adds a resonance struck with noise that dies away with the given time constant in milliseconds.
func strike(n *noise, x []float32, ms, frequency, amplitude float64) {
	decay := ms * FrameRate / 1000
	for i := 0; i < int(6*decay) && i < len(x); i++ {
		body := 0.6*math.Sin(2*math.Pi*frequency*float64(i)/FrameRate) + 0.2*float64(n.white())
		x[i] += float32(amplitude * math.Exp(-float64(i)/decay) * body)
	}
}

// cough is the burst of air of an unvoiced cough, 40 ms strong and then 150 ms dying away, through two resonances.
func cough(n *noise, x []float32) {
	low, high := newResonator(700, 130), newResonator(1800, 250)
	for i := 0; i < samplesFor(0.3) && i < len(x); i++ {
		t := float64(i) / FrameRate
		gain := min(1, t/0.005)
		if t > 0.04 {
			gain = 0.5 * math.Exp(-(t-0.04)/0.06)
		}
		w := float64(n.white())
		x[i] += float32(0.3 * gain * (low.filter(w) + high.filter(w) + 0.3*w))
	}
}

// resonator is a two-pole filter with unit gain at its frequency, as in D. H. Klatt's synthesiser (1980).
type resonator struct{ a, b, c, y1, y2 float64 }

func newResonator(frequency, bandwidth float64) *resonator {
	r := &resonator{}
	r.tune(frequency, bandwidth)
	return r
}

func (r *resonator) tune(frequency, bandwidth float64) {
	radius := math.Exp(-math.Pi * bandwidth / FrameRate)
	r.c = -radius * radius
	r.b = 2 * radius * math.Cos(2*math.Pi*frequency/FrameRate)
	r.a = 1 - r.b - r.c
}

func (r *resonator) filter(x float64) float64 {
	y := r.a*x + r.b*r.y1 + r.c*r.y2
	r.y1, r.y2 = y, r.y1
	return y
}

// vowels are the first three formants in hertz of a, e, i, o, u (G. E. Peterson and H. L. Barney, 1952, men).
var vowels = [...][3]float64{{730, 1090, 2440}, {530, 1840, 2480}, {270, 2290, 3010}, {570, 840, 2410}, {300, 870, 2240}}

// speaker is a small formant synthesiser: a glottal pulse train with a drifting pitch, or breath, through three formants
// that move from vowel to vowel, in syllables with closures and fricatives between them.
type speaker struct {
	pitch    float64 // hertz
	whisper  bool
	noise    *noise
	phase    float64
	formants [3]*resonator
	tilt     float64
}

func newSpeaker(pitch float64) *speaker {
	s := &speaker{pitch: pitch, noise: newNoise(uint64(pitch))}
	for i := range s.formants {
		s.formants[i] = newResonator(500, 80)
	}
	return s
}

func newWhisperer() *speaker {
	s := newSpeaker(100)
	s.whisper = true
	return s
}

// say returns seconds of syllables, four and a half a second, at -23 dBFS; the first begins at once with a vowel.
func (s *speaker) say(seconds float64) []float32 {
	var x []float32
	for i := 0; len(x) < samplesFor(seconds); i++ {
		x = append(x, s.vowel(vowels[i*2%5], vowels[(i*2+1)%5], s.noise.between(0.13, 0.2))...)
		if i%3 == 2 {
			x = append(x, s.fricative(0.08)...)
		} else {
			x = append(x, make([]float32, int(0.05*FrameRate))...)
		}
	}
	return atLevel(-23, x[:samplesFor(seconds)])
}

// vowel glides from one set of formants to another.
func (s *speaker) vowel(from, to [3]float64, seconds float64) []float32 {
	x := make([]float32, int(seconds*FrameRate))
	start := s.pitch * s.noise.between(0.95, 1.15)
	width := 1.0
	if s.whisper {
		width = 3 // the open glottis damps the formants
	}
	for i := range x {
		share := float64(i) / float64(len(x))
		if i%80 == 0 {
			for k, f := range s.formants {
				f.tune(from[k]+(to[k]-from[k])*share, width*(60+30*float64(k)))
			}
		}
		y := s.source(start * (1 - 0.12*share))
		for _, f := range s.formants {
			y = f.filter(y)
		}
		envelope := min(1, float64(i)/160, float64(len(x)-i)/400)
		x[i] = float32(envelope * y)
	}
	return x
}

// source is one sample of the glottis: pulses with a slope of 12 dB an octave and some jitter, or breath.
func (s *speaker) source(pitch float64) float64 {
	if s.whisper {
		return 0.3 * float64(s.noise.white())
	}
	s.phase += pitch / FrameRate
	pulse := 0.01 * float64(s.noise.white())
	if s.phase >= 1 {
		s.phase -= 1
		s.phase += s.noise.between(-0.004, 0.004)
		pulse += 10
	}
	s.tilt = 0.9*s.tilt + 0.1*pulse
	return s.tilt
}

func (s *speaker) fricative(seconds float64) []float32 {
	x := make([]float32, int(seconds*FrameRate))
	f := newResonator(5200, 1500)
	for i := range x {
		x[i] = float32(0.12 * f.filter(float64(s.noise.white())) * math.Sin(math.Pi*float64(i)/float64(len(x))))
	}
	return x
}
