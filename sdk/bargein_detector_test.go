package sdk

// Tests of BargeInDetector with synthetic speech and echo: what it finds, when, and what it does not take for speech.

import (
	"math"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

// speech makes syllables of 200 ms with a gap of 50 ms between them: pulses at a pitch that glides, through two resonances
// that move.
func speech(pitch float64, ms int) []float32 {
	x := make([]float32, ms*voice.FrameRate/1000)
	var phase float64
	var y [2][2]float64
	for i := range x {
		t := float64(i) / voice.FrameRate
		in := math.Mod(t, 0.25)
		f := pitch * (1 + 0.12*math.Sin(2*math.Pi*1.7*t))
		var pulse float64
		if phase += f / voice.FrameRate; phase >= 1 {
			phase--
			pulse = 1
		}
		var sum float64
		for k, at := range []float64{500 + 250*math.Sin(2*math.Pi*2.3*t), 1500 + 500*math.Sin(2*math.Pi*1.1*t)} {
			r := math.Exp(-math.Pi * 90 / voice.FrameRate)
			next := pulse + 2*r*math.Cos(2*math.Pi*at/voice.FrameRate)*y[k][0] - r*r*y[k][1]
			y[k][0], y[k][1] = next, y[k][0]
			sum += next
		}
		if in < 0.2 {
			x[i] = float32(0.02 * sum * math.Min(1, math.Min(in, 0.2-in)/0.01))
		}
	}
	return x
}

func pause(ms int) []float32 { return make([]float32, ms*voice.FrameRate/1000) }

func joined(parts ...[]float32) []float32 {
	var all []float32
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// echoOf returns the echo of x: ms milliseconds later, and multiplied by gain.
func echoOf(x []float32, ms int, gain float32) []float32 {
	y := make([]float32, len(x))
	late := ms * voice.FrameRate / 1000
	for i := late; i < len(x); i++ {
		y[i] = gain * x[i-late]
	}
	return y
}

// found is one finding of a detector. ms is the end of the frame in which it was found, from the beginning of the sound.
type found struct {
	what Detection
	ms   int
}

// listen gives mic to the detector frame by frame, and returns all findings. A nil agent gives the detector no reference.
func listen(e *BargeInDetector, mic, agent []float32, playing bool) []found {
	var all []found
	for i := 0; i+voice.FrameSize <= len(mic); i += voice.FrameSize {
		var reference []float32
		if agent != nil {
			reference = agent[i : i+voice.FrameSize]
		}
		if v := e.Frame(mic[i:i+voice.FrameSize], reference, playing); v != NoDetection {
			all = append(all, found{v, (i + voice.FrameSize) * 1000 / voice.FrameRate})
		}
	}
	return all
}

func TestTheDetectorFindsOnsetSustainedSpeechAndEnd(t *testing.T) {
	g := gomega.NewWithT(t)
	all := listen(NewBargeInDetector(), joined(pause(1000), speech(120, 700), pause(600)), nil, false)
	g.Expect(all).To(gomega.HaveLen(3))
	g.Expect(all[0].what).To(gomega.Equal(DetectedOnset))
	g.Expect(all[0].ms).To(gomega.BeNumerically("~", 1060, 40))
	g.Expect(all[1].what).To(gomega.Equal(DetectedSustained))
	g.Expect(all[1].ms - all[0].ms).To(gomega.BeNumerically("~", 160, 20))
	g.Expect(all[2].what).To(gomega.Equal(DetectedEnd))
	g.Expect(all[2].ms).To(gomega.BeNumerically("~", 1700+310, 60))
}

func TestAShortSoundIsNotSustainedSpeech(t *testing.T) {
	g := gomega.NewWithT(t)
	all := listen(NewBargeInDetector(), joined(pause(1000), speech(120, 90), pause(600)), nil, false)
	g.Expect(all).To(gomega.HaveLen(2))
	g.Expect(all[0].what).To(gomega.Equal(DetectedOnset))
	g.Expect(all[1].what).To(gomega.Equal(DetectedEnd))
}

func TestSpeechIsCountedAnewAfterALongGap(t *testing.T) {
	g := gomega.NewWithT(t)
	// Two short sounds with 230 ms between them are not sustained speech. Two with 70 ms between them are.
	apart := joined(pause(1000), speech(120, 60), pause(230), speech(120, 60), pause(600))
	near := joined(pause(1000), speech(120, 90), pause(70), speech(120, 150), pause(600))
	count := func(x []float32) (n int) {
		for _, f := range listen(NewBargeInDetector(), x, nil, false) {
			if f.what == DetectedSustained {
				n++
			}
		}
		return n
	}
	g.Expect(count(apart)).To(gomega.BeZero())
	g.Expect(count(near)).To(gomega.Equal(1))
}

// A user who goes on after a short pause silences the agent again, at once and without another onset.
func TestSpeechGoesOnAfterAShortPause(t *testing.T) {
	g := gomega.NewWithT(t)
	var what []Detection
	for _, f := range listen(NewBargeInDetector(), joined(pause(1000), speech(120, 350), pause(170), speech(120, 350), pause(600)), nil, false) {
		what = append(what, f.what)
	}
	g.Expect(what).To(gomega.Equal([]Detection{DetectedOnset, DetectedSustained, DetectedEnd, DetectedSustained, DetectedEnd}))
}

// Once the user has spoken, talk in the background does not duck the agent.
func TestTalkInTheBackgroundIsNotTakenForTheUser(t *testing.T) {
	g := gomega.NewWithT(t)
	e := NewBargeInDetector()
	g.Expect(listen(e, joined(pause(1000), speech(120, 2000), pause(600)), nil, false)).NotTo(gomega.BeEmpty())
	television := speech(180, 8000)
	for i := range television {
		television[i] *= 0.17 // 15 dB below
	}
	g.Expect(listen(e, television, nil, true)).To(gomega.BeEmpty())
	g.Expect(listen(e, joined(pause(500), speech(120, 700)), nil, true)).NotTo(gomega.BeEmpty(), "the user is found as before")
	e.Reset()
	g.Expect(listen(e, television, nil, false)).NotTo(gomega.BeEmpty(), "a quiet user of a new microphone")
}

func TestEchoOfTheAgentIsNotTakenForSpeech(t *testing.T) {
	g := gomega.NewWithT(t)
	agent := joined(pause(500), speech(105, 8000), pause(500))
	for _, late := range []int{40, 80, 120} {
		echo := echoOf(agent, late, 0.1)
		g.Expect(listen(NewBargeInDetector(), echo, agent, true)).To(gomega.BeEmpty(), "%d ms late", late)
		g.Expect(listen(NewBargeInDetector(), echo, nil, true)).NotTo(gomega.BeEmpty(), "without the reference")
	}
}

func TestSpeechOverTheAgentIsFound(t *testing.T) {
	g := gomega.NewWithT(t)
	agent := joined(pause(500), speech(105, 6500))
	mic := echoOf(agent, 60, 0.05)
	for i, x := range joined(pause(5000), speech(190, 1000), pause(1000)) {
		mic[i] += x
	}
	all := listen(NewBargeInDetector(), mic, agent, true)
	g.Expect(all).NotTo(gomega.BeEmpty())
	g.Expect(all[0].what).To(gomega.Equal(DetectedOnset))
	g.Expect(all[0].ms).To(gomega.BeNumerically("~", 5080, 70))
}

// While echo cancellation adapts, the thresholds of an onset are higher: in the first 3 s of playback, and for 250 ms after each
// playback.
func TestThresholdsAreRaised(t *testing.T) {
	g := gomega.NewWithT(t)
	began := func(e *BargeInDetector, playing bool) int {
		return listen(e, joined(pause(500), speech(120, 300), pause(700)), nil, playing)[0].ms
	}
	fresh := NewBargeInDetector()
	early := began(fresh, true)
	settled := NewBargeInDetector()
	listen(settled, pause(3000), nil, true)
	late := began(settled, true)
	g.Expect(early).To(gomega.BeNumerically(">", late))
	g.Expect(began(NewBargeInDetector(), false)).To(gomega.Equal(late))

	after := NewBargeInDetector()
	listen(after, pause(4000), nil, true)
	soon := listen(after, joined(speech(120, 300), pause(700)), nil, false)[0].ms
	g.Expect(soon).To(gomega.BeNumerically(">", late-500))
}

func TestResetForgetsAllSound(t *testing.T) {
	g := gomega.NewWithT(t)
	e := NewBargeInDetector()
	listen(e, joined(pause(500), speech(120, 300)), nil, false)
	e.Reset()
	g.Expect(listen(e, pause(1000), nil, false)).To(gomega.BeEmpty(), "the speech before came from another microphone")
}

func TestEachFindingHasItsPeerEvent(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(NoDetection.Event(PlayedPosition{Timestamp: 1}, true)).To(gomega.BeNil())
	g.Expect(DetectedOnset.Event(PlayedPosition{Timestamp: 1}, true)).To(gomega.Equal(SpeechOnset{At: PlayedPosition{Timestamp: 1}, Known: true}))
	g.Expect(DetectedSustained.Event(PlayedPosition{Timestamp: 1}, true)).To(gomega.Equal(SpeechSustained{}))
	g.Expect(DetectedEnd.Event(PlayedPosition{Timestamp: 1}, true)).To(gomega.Equal(SpeechEnded{}))
}

func TestAFrameAllocatesNothing(t *testing.T) {
	e, frames := NewBargeInDetector(), speech(120, 2000)
	at := 0
	allocations := testing.AllocsPerRun(1000, func() {
		e.Frame(frames[at:at+voice.FrameSize], frames[at:at+voice.FrameSize], true)
		at = (at + voice.FrameSize) % (len(frames) - voice.FrameSize)
	})
	gomega.NewWithT(t).Expect(allocations).To(gomega.BeZero())
}

// BenchmarkFrame gives the detector one frame: 10 ms of both sides.
func BenchmarkFrame(b *testing.B) {
	e, mic, agent := NewBargeInDetector(), speech(120, 2000), speech(105, 2000)
	b.ReportAllocs()
	at := 0
	for b.Loop() {
		e.Frame(mic[at:at+voice.FrameSize], agent[at:at+voice.FrameSize], true)
		at = (at + voice.FrameSize) % (len(mic) - voice.FrameSize)
	}
}
