package voice

// This file has the voice activity detector.

import "math"

const (
	// DefaultThreshold is the default threshold. It is the default of turn_detection.threshold in the protocol.
	DefaultThreshold = 0.5
	// maxThreshold is the highest threshold. Decision.Probability never exceeds 0.982.
	maxThreshold = 0.97
	// release is the share of the threshold below which Speech ends.
	release = 0.45
	// restFrames is after how many frames of digital silence a further one changes nothing: 10 s. The last peak is forgotten after 6 s.
	restFrames = 1000
)

// DetectorConfig configures a Detector. The zero value has good defaults.
type DetectorConfig struct {
	// Threshold is the probability at which Speech begins, in (0, 0.97]; 0 means DefaultThreshold.
	Threshold float32
	// Tables are shared with other detectors; nil makes new ones. A program with many detectors saves memory, and time, because the
	// processor's caches then hold one copy.
	Tables *Tables
}

// Tables are what all Detectors and Echoes compute with, 19 kB. Nothing changes them: any number of goroutines may share them.
type Tables struct {
	window   [windowSize]float32 // the analysis window
	twiddles *twiddles
	cosine   lagCosines
}

// NewTables computes the tables.
func NewTables() *Tables {
	t := &Tables{twiddles: newTwiddles(windowSize)}
	fillWindow(&t.window)
	t.cosine.fill(&t.window)
	return t
}

// Decision is the result of a Detector for one frame.
type Decision struct {
	// Probability is the probability in [0, 1] of speech at the end of the frame. It does not depend on the threshold.
	Probability float32
	// Speech becomes true when Probability reaches the threshold, and false when it falls below 0.45 of the threshold.
	Speech bool
	// Level is the RMS level of the frame in dBFS; MinDBFS for silence.
	Level float32
}

// Detector is a voice activity detector. The package comment says how it works and how well. It takes 37 kB, of which Tables are 19 kB, and does not allocate after
// NewDetector. Only one goroutine at a time may use it.
type Detector struct {
	threshold float32
	speech    bool

	tables   *Tables
	past     [windowSize]float32 // the last 32 ms of sound
	silent   int                 // frames of digital silence in a row, at most restFrames
	windowed [windowSize]float32
	power    [binCount]float32
	spectrum *Spectrum

	bands       bands
	harmonicity harmonicity
	belief      belief
	features    features
}

// features are the measurements of one frame.
type features struct {
	level     float32 // level of the last 32 ms in dBFS, without sound below 94 Hz
	room      float32 // how far the loudest recent sound was above the noise, in dB
	fall      float32 // how much the level has fallen in two frames, in dB
	elevation float32 // how far the bands are above their noise floors: 0 for none, 1 if all are 16 dB above
	run       float32 // frames for which elevation has lasted, at most 30; a frame without it subtracts 2
	flux      float32 // how much the shape of the spectrum has changed in 80 ms, in dB, mean of the bands

	periodicity float32 // peak of the normalised autocorrelation of the sound above the noise, in [0, 1]
	upper       float32 // the same for 500-2000 Hz alone, at the same lag
	crest       float32 // share of the strongest three neighbouring bins
	change      float32 // change of the spectrum below 2 kHz over 20 or 50 ms, the smaller one: 0 none, 1 completely
}

// NewDetector returns a detector for a new stream.
func NewDetector(c DetectorConfig) *Detector {
	if c.Tables == nil {
		c.Tables = NewTables()
	}
	d := &Detector{tables: c.Tables, spectrum: newSpectrum(c.Tables.twiddles)}
	d.harmonicity.cosine = &c.Tables.cosine
	d.SetThreshold(c.Threshold)
	d.Reset()
	return d
}

// SetThreshold changes the threshold from the next frame on. The detector keeps what it has learned about the noise. A value of 0 or less,
// or NaN, means DefaultThreshold. A value above 0.97 means 0.97.
func (d *Detector) SetThreshold(threshold float32) {
	if !(threshold > 0) {
		threshold = DefaultThreshold
	}
	d.threshold = min(threshold, maxThreshold)
}

// Reset begins a new stream, for example after a change of the microphone. The threshold stays.
func (d *Detector) Reset() {
	d.speech, d.silent = false, 0
	clear(d.past[:])
	d.bands.reset()
	d.harmonicity.reset()
	d.belief.reset()
}

// Frame takes the next frame, exactly FrameSize mono samples in [-1, 1] at FrameRate, and returns the decision at its
// end. It does not keep the frame. It clips samples outside the range and takes NaN for 0. It panics if the frame has another size,
// because that is an error of the program.
func (d *Detector) Frame(frame []float32) Decision {
	if len(frame) != FrameSize {
		panic("voice: a detector takes frames of exactly FrameSize samples; cut the stream with a Framer")
	}
	level := d.take(frame)
	if d.silent < restFrames { // a user who is muted costs little
		d.measure()
	}
	p := probabilityOf(d.belief.logOdds)
	d.speech = p >= d.threshold || d.speech && p >= release*d.threshold
	return Decision{Probability: p, Speech: d.speech, Level: level}
}

// measure learns from the last 32 ms.
func (d *Detector) measure() {
	clear(d.power[:])
	if d.silent < silentFrames {
		for i, x := range d.past[:] {
			d.windowed[i] = x * d.tables.window[i]
		}
		d.spectrum.Power(d.power[:], d.windowed[:])
	}
	d.bands.measure(&d.power, &d.features)
	d.harmonicity.measure(&d.power, &d.bands.noise, &d.features)
	d.bands.learn(d.belief.update(&d.features))
}

// speechLevel returns the level of the last 32 ms above the noise floor in dBFS, without sound below 94 Hz.
func (d *Detector) speechLevel() float32 {
	var sum float32
	for c, p := range d.bands.power[firstBin:] {
		sum += max(p-d.bands.noise[firstBin+c], 0)
	}
	return max(decibels(sum), MinDBFS)
}

// take appends the frame to the last 32 ms and returns its level.
func (d *Detector) take(frame []float32) float32 {
	if d.silent >= silentFrames && *(*[FrameSize]float32)(frame) == [FrameSize]float32{} { // and so are the last 32 ms
		d.silent = min(d.silent+1, restFrames)
		return MinDBFS
	}
	copy(d.past[:], d.past[FrameSize:])
	last := d.past[windowSize-FrameSize:]
	var sum float32
	for i, x := range frame {
		x = min(max(x, -1), 1)
		if x != x {
			x = 0
		}
		last[i] = x
		sum += x * x
	}
	if d.silent = min(d.silent+1, restFrames); sum > 0 {
		d.silent = 0
	}
	return max(decibels(sum/FrameSize), MinDBFS)
}

// fillWindow computes the analysis window. It rises over 24 ms and falls over 8 ms, both as half a period of a cosine. The steep end shows an
// onset early; the long rise separates the harmonics of a low voice. The window is scaled so that the sum of the bins is the mean square.
func fillWindow(scaled *[windowSize]float32) {
	const rise, fall = windowSize * 3 / 4, windowSize / 4
	w := make([]float64, windowSize)
	var sum float64
	for i := range w {
		if i < rise {
			w[i] = 0.5 - 0.5*math.Cos(math.Pi*(float64(i)+0.5)/rise)
		} else {
			w[i] = 0.5 + 0.5*math.Cos(math.Pi*(float64(i-rise)+0.5)/fall)
		}
		sum += w[i] * w[i]
	}
	gain := 1 / math.Sqrt(sum*windowSize/2)
	for i := range w {
		scaled[i] = float32(w[i] * gain)
	}
}

// decibels returns 10 log10 of a power, and at least -150. It approximates the logarithm of the mantissa by a polynomial of degree four
// through the Chebyshev nodes, with an error below 0.0004 dB, because each frame needs about fifty logarithms.
func decibels(power float32) float32 {
	if !(power > 1e-15) {
		return -150
	}
	bits := math.Float32bits(power)
	m := math.Float32frombits(bits&0x7fffff|0x3f800000) - 1
	log2 := float32(int32(bits>>23)-127) +
		(1.1457996e-4 + m*(1.4368749+m*(-0.67088268+m*(0.31226947-m*0.078440676))))
	return log2 * 3.0103
}

func clamp(x, least, most float32) float32 { return min(max(x, least), most) }

func absolute(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

func squareRoot(x float32) float32 { return float32(math.Sqrt(float64(x))) }
