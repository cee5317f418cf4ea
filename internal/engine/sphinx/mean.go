package sphinx

// This file learns the cepstral mean of an utterance, which is subtracted from each frame. The mean represents the microphone, the
// room and the level. It is learned from each utterance alone, so that one call does not influence another.

const (
	priorFrames = 10  // weight of the mean of typical speech, in frames
	firstFrames = 40  // frames of speech before the first frame is decoded: 0.4 s
	maxHeld     = 300 // most frames that wait if there is no speech: 3 s
	pauseBelow  = 20  // of the first coefficient: a frame this much below the loudest one is a pause and is not learned
	pauseUnder  = 20  // of the first coefficient: a frame below it is a pause in any case
)

// mean is the cepstral mean of an utterance so far.
type mean struct {
	sum   [ceps]float64
	count float64
	top   float32 // the first coefficient of the loudest frame
}

// newMean returns the mean of the speech with which the model en-us was trained (cmninit in its feat.params).
func newMean() mean {
	m := mean{count: priorFrames}
	for i, v := range [ceps]float64{41.00, -5.29, -0.12, 5.09, 2.48, -4.07, -1.37, -1.78, -5.08, -2.05, -6.45, -1.42, 1.17} {
		m.sum[i] = v * priorFrames
	}
	return m
}

// learn adds a frame to the mean if it is speech.
func (m *mean) learn(c *cepstrum) {
	m.top = max(m.top, c[0])
	if c[0] < m.top-pauseBelow || c[0] < pauseUnder {
		return
	}
	m.count++
	for i, v := range c {
		m.sum[i] += float64(v)
	}
}

// known reports whether the mean contains enough speech.
func (m *mean) known() bool { return m.count >= priorFrames+firstFrames }

func (m *mean) subtract(c *cepstrum) {
	for i := range c {
		c[i] -= float32(m.sum[i] / m.count)
	}
}
