package voice

import (
	"math"
	"testing"

	"github.com/onsi/gomega"
)

func TestDetectorTakesNoNoiseForSpeech(t *testing.T) {
	const seconds = 8
	for _, c := range []struct {
		name string
		x    []float32
	}{
		{"white noise", whiteNoise(1, seconds, 1)},
		{"rumble of a fan", rumble(2, seconds)},
		{"mains hum of 50 Hz", hum(50, seconds)},
		{"mains hum of 60 Hz", hum(60, seconds)},
		{"clicks", repeated(3, seconds, 0.1, click)},
		{"key strokes", repeated(4, seconds, 0.1, keyStroke)},
		{"coughs", repeated(5, seconds, 0.6, cough)},
	} {
		for _, level := range []float64{-55, -40, -25} {
			t.Run(c.name+" from the start", func(t *testing.T) {
				g := gomega.NewWithT(t)
				s := summarise(decide(NewDetector(DetectorConfig{}), atLevel(level, c.x)))
				g.Expect(s.frames).To(gomega.BeZero(), "at %v dBFS, first frame %d", level, s.first)
			})
			t.Run(c.name+" after digital silence", func(t *testing.T) {
				g := gomega.NewWithT(t)
				s := summarise(decide(NewDetector(DetectorConfig{}), concat(quiet(1), atLevel(level, c.x))))
				g.Expect(s.frames).To(gomega.BeZero(), "at %v dBFS, first frame %d", level, s.first)
			})
		}
	}
}

// A tone or a buzz that is switched on has a pitch. It may pass for a voice until it has repeated itself, not longer.
func TestDetectorSeesThroughATone(t *testing.T) {
	for _, frequency := range []float64{150, 440, 1000} {
		for _, lead := range []float64{0, 1} {
			g := gomega.NewWithT(t)
			x := concat(quiet(lead), atLevel(-25, tone(frequency, 5)))
			s := summarise(decide(NewDetector(DetectorConfig{}), x))
			g.Expect(s.frames).To(gomega.BeNumerically("<=", 6), "%v Hz", frequency)
		}
	}
}

func TestDetectorHearsTheOnsetOfSpeech(t *testing.T) {
	const lead = 100 // frames
	for _, c := range []struct {
		name   string
		pitch  float64
		level  float64
		noise  float64 // dB under the speech; 0 for none
		within int     // frames of 10 ms
	}{
		{"low voice after digital silence", 85, -23, 0, 4},
		{"man's voice after digital silence", 110, -23, 0, 4},
		{"woman's voice after digital silence", 210, -23, 0, 4},
		{"child's voice after digital silence", 300, -23, 0, 4},
		{"loud voice", 120, -9, 0, 4},
		{"quiet voice", 120, -45, 0, 6},
		{"man's voice in noise of -20 dB", 110, -23, 20, 5},
		{"woman's voice in noise of -20 dB", 210, -23, 20, 5},
		{"man's voice in noise of -10 dB", 110, -23, 10, 8},
		{"woman's voice in noise of -10 dB", 210, -23, 10, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			x := concat(quiet(lead*0.01), atLevel(c.level, newSpeaker(c.pitch).say(1)))
			if c.noise > 0 {
				x = add(x, atLevel(c.level-c.noise, whiteNoise(6, 2, 1)))
			}
			s := summarise(decide(NewDetector(DetectorConfig{}), x))
			g.Expect(s.first).To(gomega.BeNumerically(">=", lead), "not before it begins")
			g.Expect(s.first-lead+1).To(gomega.BeNumerically("<=", c.within), "frames from onset to decision")
		})
	}
}

// Ten seconds without a real pause must neither end nor be learned as noise.
func TestDetectorStaysWithLongSpeech(t *testing.T) {
	const seconds, lead = 10, 100
	for _, c := range []struct {
		name    string
		pitch   float64
		noise   float64
		longest int     // frames without speech in one gap
		share   float64 // of frames that are speech
	}{
		{"man's voice", 110, 0, 10, 0.95},
		{"woman's voice", 210, 0, 10, 0.95},
		{"man's voice in noise of -20 dB", 110, 20, 15, 0.85},
		{"woman's voice in noise of -10 dB", 210, 10, 25, 0.7},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			x := concat(quiet(lead*0.01), newSpeaker(c.pitch).say(seconds), quiet(0.5))
			if c.noise > 0 {
				x = add(x, atLevel(-23-c.noise, whiteNoise(7, seconds+2, 1)))
			}
			decisions := decide(NewDetector(DetectorConfig{}), x)
			s := summarise(decisions[:lead+seconds*100])
			g.Expect(s.longest).To(gomega.BeNumerically("<=", c.longest))
			g.Expect(float64(s.frames) / (seconds * 100)).To(gomega.BeNumerically(">=", c.share))
			end := summarise(decisions[lead+seconds*100:])
			g.Expect(end.frames).To(gomega.BeNumerically("<=", 12), "frames of hangover")
		})
	}
}

func TestDetectorHearsSpeechThatIsThereFromTheFirstSample(t *testing.T) {
	g := gomega.NewWithT(t)
	s := summarise(decide(NewDetector(DetectorConfig{}), newSpeaker(120).say(2)))
	g.Expect(s.first).To(gomega.BeNumerically("<=", 4))
	g.Expect(s.longest).To(gomega.BeNumerically("<=", 10))
}

func TestDetectorHearsAWhisperLateButForAWholeWord(t *testing.T) {
	g := gomega.NewWithT(t)
	x := concat(quiet(1), atLevel(-32, newWhisperer().say(1.5)), quiet(0.5))
	x = add(x, atLevel(-62, whiteNoise(8, 3, 1)))
	s := summarise(decide(NewDetector(DetectorConfig{}), x))
	g.Expect(s.first-100).To(gomega.BeNumerically("<=", 45), "frames after its onset")
	g.Expect(s.frames).To(gomega.BeNumerically(">=", 60))
}

func TestDetectorLearnsANewNoise(t *testing.T) {
	speech := newSpeaker(120).say(1)
	for _, c := range []struct {
		name     string
		from, to float64 // dBFS
	}{
		{"louder", -60, -38},
		{"much louder", -80, -36},
		{"softer", -35, -60},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			d := NewDetector(DetectorConfig{})
			noise := whiteNoise(11, 6, 1)
			before := summarise(decide(d, concat(atLevel(c.from, noise[:3*FrameRate]), atLevel(c.to, noise[:FrameRate]))))
			g.Expect(before.frames).To(gomega.BeZero())
			after := summarise(decide(d, add(concat(speech, quiet(0.5)), atLevel(c.to, noise))))
			g.Expect(after.first).To(gomega.BeNumerically("<=", 6), "a second later a voice stands out again")
			g.Expect(after.frames).To(gomega.BeNumerically("~", 100, 25))
		})
	}
}

func TestDetectorHearsSpeechThroughHum(t *testing.T) {
	for _, frequency := range []float64{50, 60} {
		g := gomega.NewWithT(t)
		x := concat(quiet(1.5), newSpeaker(120).say(1), quiet(0.5))
		s := summarise(decide(NewDetector(DetectorConfig{}), add(x, atLevel(-33, hum(frequency, 4)))))
		g.Expect(s.first).To(gomega.BeNumerically("~", 153, 3))
		g.Expect(s.onsets).To(gomega.BeNumerically("<=", 3))
	}
}

func TestDetectorThreshold(t *testing.T) {
	g := gomega.NewWithT(t)
	x := add(concat(quiet(1), newSpeaker(110).say(2), quiet(0.5)), atLevel(-33, whiteNoise(12, 4, 1)))
	var frames []int
	var probabilities [][]float32
	for _, threshold := range []float32{0.1, 0.5, 0.9} {
		decisions := decide(NewDetector(DetectorConfig{Threshold: threshold}), x)
		frames = append(frames, summarise(decisions).frames)
		var p []float32
		speech := false
		for _, d := range decisions {
			p = append(p, d.Probability)
			speech = d.Probability >= threshold || speech && d.Probability >= 0.45*threshold
			g.Expect(d.Speech).To(gomega.Equal(speech), "hysteresis around the threshold")
		}
		probabilities = append(probabilities, p)
	}
	g.Expect(frames[0]).To(gomega.BeNumerically(">", frames[1]))
	g.Expect(frames[1]).To(gomega.BeNumerically(">", frames[2]))
	g.Expect(frames[2]).To(gomega.BeNumerically(">", 100))
	g.Expect(probabilities[0]).To(gomega.Equal(probabilities[1]), "the probability knows no threshold")
}

func TestDetectorThresholdOutOfRange(t *testing.T) {
	g := gomega.NewWithT(t)
	x := concat(quiet(0.5), newSpeaker(110).say(0.5))
	want := decide(NewDetector(DetectorConfig{}), x)
	for _, threshold := range []float32{0, -1, float32(math.NaN())} {
		d := NewDetector(DetectorConfig{Threshold: 0.9})
		d.SetThreshold(threshold)
		g.Expect(decide(d, x)).To(gomega.Equal(want), "%v takes the default", threshold)
	}
	s := summarise(decide(NewDetector(DetectorConfig{Threshold: 1}), x))
	g.Expect(s.frames).To(gomega.BeNumerically(">", 20), "even 1 can be reached")
}

func TestDetectorResetForgetsEverything(t *testing.T) {
	g := gomega.NewWithT(t)
	x := add(concat(quiet(0.5), newSpeaker(150).say(1)), atLevel(-50, whiteNoise(13, 2, 1)))
	d := NewDetector(DetectorConfig{})
	want := decide(d, x)
	decide(d, atLevel(-10, rumble(14, 3)))
	d.Reset()
	g.Expect(decide(d, x)).To(gomega.Equal(want))
}

func TestDetectorReportsTheLevel(t *testing.T) {
	g := gomega.NewWithT(t)
	d := NewDetector(DetectorConfig{})
	g.Expect(d.Frame(make([]float32, FrameSize)).Level).To(gomega.Equal(float32(MinDBFS)))
	x := whiteNoise(15, 0.01, 0.1)
	g.Expect(d.Frame(x).Level).To(gomega.BeNumerically("~", DBFS(RMS(x)), 0.01))
}

// Bad samples are the sender's mistake and must not deafen the detector for the rest of the call.
func TestDetectorSurvivesBadSamples(t *testing.T) {
	g := gomega.NewWithT(t)
	d := NewDetector(DetectorConfig{})
	bad := make([]float32, FrameSize)
	for i := range bad {
		bad[i] = []float32{float32(math.NaN()), float32(math.Inf(1)), -1e30, 1e-45}[i%4]
	}
	for range 10 {
		p := d.Frame(bad).Probability
		g.Expect(p).To(gomega.And(gomega.BeNumerically(">=", 0), gomega.BeNumerically("<=", 1)))
	}
	decide(d, quiet(1))
	s := summarise(decide(d, newSpeaker(110).say(0.5)))
	g.Expect(s.first).To(gomega.BeNumerically("~", 2, 2))
}

func TestDetectorRefusesFramesOfAnotherSize(t *testing.T) {
	for _, size := range []int{0, FrameSize - 1, FrameSize + 1} {
		g := gomega.NewWithT(t)
		g.Expect(func() { NewDetector(DetectorConfig{}).Frame(make([]float32, size)) }).To(gomega.Panic())
	}
}

func TestDetectorDoesNotAllocate(t *testing.T) {
	g := gomega.NewWithT(t)
	d := NewDetector(DetectorConfig{})
	x := concat(newSpeaker(110).say(1))
	g.Expect(testing.AllocsPerRun(3, func() {
		for at := 0; at < len(x); at += FrameSize {
			d.Frame(x[at : at+FrameSize])
		}
	})).To(gomega.BeZero())
}

func FuzzDetector(f *testing.F) {
	f.Add(PCM16ToBytes(nil, FloatToPCM16(nil, newSpeaker(110).say(0.2))))
	f.Add(PCM16ToBytes(nil, FloatToPCM16(nil, hum(50, 0.1))))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := NewDetector(DetectorConfig{})
		for i, decision := range decide(d, PCM16ToFloat(nil, BytesToPCM16(nil, data))) {
			if !(decision.Probability >= 0 && decision.Probability <= 1 && decision.Level >= MinDBFS && decision.Level <= 0.01) {
				t.Fatalf("frame %d: %+v", i, decision)
			}
		}
	})
}

// Detectors that share tables decide as one with its own.
func TestDetectorsShareTables(t *testing.T) {
	g := gomega.NewWithT(t)
	x, y := newSpeaker(110).say(2), newSpeaker(190).say(2)
	tables := NewTables()
	alone, first, second := NewDetector(DetectorConfig{}), NewDetector(DetectorConfig{Tables: tables}), NewDetector(DetectorConfig{Tables: tables})
	e, of, other := NewEcho(), NewEchoFor(first), NewEchoFor(second)
	for i := 0; i+FrameSize <= len(x); i += FrameSize {
		g.Expect(first.Frame(x[i : i+FrameSize])).To(gomega.Equal(alone.Frame(x[i : i+FrameSize])))
		g.Expect(of.FrameOf(first, y[i:i+FrameSize])).To(gomega.Equal(e.FrameOf(alone, y[i:i+FrameSize])))
		second.Frame(y[i : i+FrameSize])
		other.FrameOf(second, x[i:i+FrameSize])
	}
}
