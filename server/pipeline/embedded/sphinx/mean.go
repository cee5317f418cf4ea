package sphinx

// The cepstral mean stands for the microphone, the room and the level, and is taken out of each frame. It is learned from the
// utterance itself, so that no call leaves a trace in another one.
const (
	priorFrames = 10  // frames of speech that the mean of typical speech counts for
	firstFrames = 40  // frames of speech that are heard before the first one is decoded: 0.4 s
	maxHeld     = 300 // frames that wait at most, if nothing sounds like speech: 3 s
	pauseBelow  = 20  // of the first coefficient: a frame so much under the loudest is a pause, and says nothing of the channel
	pauseUnder  = 20  // of the first coefficient: a frame under it is a pause in any case
)

// mean is the cepstral mean of an utterance so far.
type mean struct {
	sum   [ceps]float64
	count float64
	top   float32 // the loudest frame's first coefficient
}

// newMean begins with the mean of the speech that the model en-us was trained on (its feat.params, cmninit).
func newMean() mean {
	m := mean{count: priorFrames}
	for i, v := range [ceps]float64{41.00, -5.29, -0.12, 5.09, 2.48, -4.07, -1.37, -1.78, -5.08, -2.05, -6.45, -1.42, 1.17} {
		m.sum[i] = v * priorFrames
	}
	return m
}

// learn takes a frame into the mean, if it is speech.
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

// known: enough speech was heard to go by.
func (m *mean) known() bool { return m.count >= priorFrames+firstFrames }

func (m *mean) subtract(c *cepstrum) {
	for i := range c {
		c[i] -= float32(m.sum[i] / m.count)
	}
}
