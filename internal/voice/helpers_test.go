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

// heardEcho is an Echo with the Detector of its microphone.
type heardEcho struct {
	*Echo
	d *Detector
}

// NewEcho returns an Echo with a Detector of its own.
func NewEcho() heardEcho {
	d := NewDetector(DetectorConfig{})
	return heardEcho{NewEchoFor(d), d}
}

// Frame is FrameOf after the detector has taken the frame of the microphone.
func (e heardEcho) Frame(mic, reference []float32) (explained bool) {
	e.d.Frame(mic)
	return e.FrameOf(e.d, reference)
}

// Reset begins a new stream.
func (e heardEcho) Reset() {
	e.d.Reset()
	e.Echo.Reset()
}
