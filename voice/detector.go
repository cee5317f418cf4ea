package voice

// DefaultThreshold is the threshold of a detector that is not given one: the protocol's turn_detection.threshold.
const DefaultThreshold = 0.5

// DetectorConfig is what a Detector can be told. The zero value is a good one.
type DetectorConfig struct {
	// Threshold is the probability at which Speech begins, in (0, 1); 0 takes DefaultThreshold.
	Threshold float32
}

// Decision is what a Detector says about one frame.
type Decision struct {
	// Probability is the probability in [0, 1] that somebody speaks at the end of the frame.
	Probability float32
	// Speech is true from the frame in which Probability reaches the threshold to the one in which it falls clearly under it.
	Speech bool
	// Level is the RMS level of the frame in dBFS, MinDBFS for silence.
	Level float32
}

// Detector tells speech from silence and noise, frame by frame. One goroutine at a time; no allocation after NewDetector.
type Detector struct {
	threshold float32
	speech    bool
}

// NewDetector returns a detector that has heard nothing yet.
func NewDetector(c DetectorConfig) *Detector {
	d := &Detector{}
	d.SetThreshold(c.Threshold)
	return d
}

// SetThreshold changes the threshold from the next frame on; what was learned of the noise stays. Values at or under 0
// (and not-a-number) take DefaultThreshold, values above 0.99 are 0.99.
func (d *Detector) SetThreshold(threshold float32) {
	if !(threshold > 0) {
		threshold = DefaultThreshold
	}
	d.threshold = min(threshold, 0.99)
}

// Reset forgets all sound, as for a new microphone. The threshold stays.
func (d *Detector) Reset() {
	t := d.threshold
	*d = Detector{threshold: t}
}

// Frame takes the next frame, exactly FrameSize mono samples in [-1, 1] at FrameRate, and returns the decision at its
// end. It does not keep the frame. It panics when the frame has another size, since that is a mistake in the program.
func (d *Detector) Frame(frame []float32) Decision {
	if len(frame) != FrameSize {
		panic("voice: a detector takes frames of exactly FrameSize samples; cut the stream with a Framer")
	}
	level := DBFS(RMS(frame))
	p := min(max((level+60)/30, 0), 1)
	d.speech = p >= d.threshold || d.speech && p >= 0.7*d.threshold
	return Decision{Probability: p, Speech: d.speech, Level: level}
}
