package voice

import "math"

const (
	// DefaultThreshold is the threshold of a detector that is not given one: the protocol's turn_detection.threshold.
	DefaultThreshold = 0.5
	// maxThreshold keeps every threshold within reach of Decision.Probability, which never gets above 0.982.
	maxThreshold = 0.97
	// release is the share of the threshold under which Speech ends.
	release = 0.45
)

// DetectorConfig is what a Detector can be told. The zero value is a good one.
type DetectorConfig struct {
	// Threshold is the probability at which Speech begins, in (0, 0.97]; 0 takes DefaultThreshold.
	Threshold float32
}

// Decision is what a Detector says about one frame.
type Decision struct {
	// Probability is the probability in [0, 1] that somebody speaks at the end of the frame. It does not depend on the
	// threshold.
	Probability float32
	// Speech begins in the frame in which Probability reaches the threshold and ends in the one in which it falls under
	// 0.45 of it.
	Speech bool
	// Level is the RMS level of the frame in dBFS, MinDBFS for silence.
	Level float32
}

// Detector tells speech from silence and noise, frame by frame: see the package comment for how, and for how well.
// It takes 40 kB. One goroutine at a time; no allocation after NewDetector.
type Detector struct {
	threshold float32
	speech    bool

	window   [windowSize]float32 // the analysis window
	past     [windowSize]float32 // the last 32 ms of sound
	windowed [windowSize]float32
	power    [binCount]float32
	spectrum *Spectrum

	bands       bands
	harmonicity harmonicity
	belief      belief
	features    features
}

// features are what the evidence of one frame is made of.
type features struct {
	level     float32 // of the last 32 ms, in dBFS, without what lies under 94 Hz
	room      float32 // how far the loudest sound of late stood above the noise, in dB
	fall      float32 // how much level went down in two frames, in dB
	elevation float32 // how far the bands stand above their noise floors: 0 none, 1 all by 16 dB
	run       float32 // frames for which elevation has held on, gaps counted twice against it
	flux      float32 // how much the spectrum's shape changed in 80 ms, in dB averaged over the bands

	periodicity float32 // peak of the normalised autocorrelation of what stands above the noise, in [0, 1]
	upper       float32 // the same for 500-2000 Hz alone, at the same lag
	crest       float32 // share of the strongest three neighbouring bins
	change      float32 // of the low spectrum over 20 or 50 ms, the smaller: 0 none, 1 all of it
}

// NewDetector returns a detector that has heard nothing yet.
func NewDetector(c DetectorConfig) *Detector {
	d := &Detector{}
	fillWindow(&d.window)
	d.SetThreshold(c.Threshold)
	d.spectrum = NewSpectrum(windowSize)
	d.harmonicity.init(&d.window)
	d.Reset()
	return d
}

// SetThreshold changes the threshold from the next frame on; what was learned of the noise stays. Values at or under 0
// (and not-a-number) take DefaultThreshold, values above 0.97 are 0.97.
func (d *Detector) SetThreshold(threshold float32) {
	if !(threshold > 0) {
		threshold = DefaultThreshold
	}
	d.threshold = min(threshold, maxThreshold)
}

// Reset forgets all sound, as for a new microphone. The threshold stays.
func (d *Detector) Reset() {
	d.speech = false
	clear(d.past[:])
	d.bands.reset()
	d.harmonicity.reset()
	d.belief.reset()
}

// Frame takes the next frame, exactly FrameSize mono samples in [-1, 1] at FrameRate, and returns the decision at its
// end. It does not keep the frame. Samples outside the range are clipped, not-a-number is silence. It panics when the
// frame has another size, since that is a mistake in the program and not in the sound.
func (d *Detector) Frame(frame []float32) Decision {
	if len(frame) != FrameSize {
		panic("voice: a detector takes frames of exactly FrameSize samples; cut the stream with a Framer")
	}
	level := d.take(frame)
	for i, x := range d.past[:] {
		d.windowed[i] = x * d.window[i]
	}
	d.spectrum.Power(d.power[:], d.windowed[:])

	f := &d.features
	d.bands.measure(&d.power, f)
	d.harmonicity.measure(&d.power, &d.bands.noise, f)
	p, voiced := d.belief.update(f)
	d.bands.learn(voiced)

	d.speech = p >= d.threshold || d.speech && p >= release*d.threshold
	return Decision{Probability: p, Speech: d.speech, Level: level}
}

// take puts the frame at the end of the past and returns its level.
func (d *Detector) take(frame []float32) float32 {
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
	return max(decibels(sum/FrameSize), MinDBFS)
}

// fillWindow makes the analysis window. It rises over 24 ms and falls over 8 ms, both as half a period of a cosine: the steep
// end makes an onset count early, the long rise resolves the harmonics of a low voice. It is scaled so that the bins add up
// to the mean square.
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

// decibels is 10 log10 of a power, at least -150. The logarithm of the mantissa is a polynomial of degree four through
// its values at the Chebyshev nodes, within 0.0004 dB: a frame takes some fifty of them.
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
