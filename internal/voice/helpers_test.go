package voice

// Helpers for the tests of the detector.

import "testing"

func mustResampler(tb testing.TB, from, to int) *Resampler {
	tb.Helper()
	r, err := NewResampler(from, to)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// decide runs a detector over x and returns a decision a frame.
func decide(d *Detector, x []float32) []Decision {
	var all []Decision
	for ; len(x) >= FrameSize; x = x[FrameSize:] {
		all = append(all, d.Frame(x[:FrameSize]))
	}
	return all
}

// summary is what the detector's tests ask of a run of decisions.
type summary struct {
	onsets  int // changes from silence to speech
	frames  int // frames of speech
	first   int // the first frame of speech, -1 for none
	longest int // the longest run of frames without speech between two with speech
}

func summarise(decisions []Decision) summary {
	s := summary{first: -1}
	last := -1
	for i, d := range decisions {
		if !d.Speech {
			continue
		}
		s.frames++
		if last != i-1 || i == 0 {
			s.onsets++
		}
		if s.first < 0 {
			s.first = i
		} else {
			s.longest = max(s.longest, i-last-1)
		}
		last = i
	}
	return s
}

// NewEcho returns an Echo for a microphone that no Detector hears.
func NewEcho() *Echo { return NewEchoFor(NewDetector(DetectorConfig{})) }

// Frame is FrameOf for a frame of the microphone.
func (e *Echo) Frame(mic, reference []float32) (explained bool) {
	if len(mic) != FrameSize || reference != nil && len(reference) != FrameSize {
		panic("voice: an echo takes frames of exactly FrameSize samples; cut the streams with a Framer")
	}
	e.measure(&e.mic, mic)
	return e.explains(reference)
}
