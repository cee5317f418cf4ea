package voice

import (
	"fmt"
	"testing"

	"github.com/onsi/gomega"
)

// delayed is x, later by ms milliseconds and quieter by loss dB.
func delayed(x []float32, ms int, loss float64) []float32 {
	y := make([]float32, len(x))
	gain := Amplitude(float32(-loss))
	for i := ms * FrameRate / 1000; i < len(y); i++ {
		y[i] = x[i-ms*FrameRate/1000] * gain
	}
	return y
}

// room is x with reflections: each later and quieter than the one before.
func room(x []float32) []float32 {
	y := append([]float32(nil), x...)
	for i, ms := range []int{7, 13, 29, 53, 90, 140} {
		y = add(y, delayed(x, ms, 6+4*float64(i)))
	}
	return y
}

// foreign gives the frames at whose end three frames in a row were speech that the playback does not explain.
func foreign(mic, playback []float32) []int {
	e := NewEcho()
	var all []int
	run := 0
	for i := 0; i+FrameSize <= len(mic); i += FrameSize {
		speech := e.d.Frame(mic[i : i+FrameSize]).Speech
		explained := e.FrameOf(e.d, playback[i:i+FrameSize])
		if !speech || explained {
			run = 0
			continue
		}
		if run++; run == 3 {
			all = append(all, i/FrameSize)
		}
	}
	return all
}

func TestAnEchoIsNobody(t *testing.T) {
	agent := concat(quiet(0.5), newSpeaker(110).say(12), quiet(0.7), newSpeaker(140).say(6))
	for _, c := range []struct {
		name string
		mic  []float32
	}{
		{"40 ms, -20 dB", delayed(agent, 40, 20)},
		{"120 ms, -20 dB", delayed(agent, 120, 20)},
		{"80 ms, -35 dB", delayed(agent, 80, 35)},
		{"80 ms, -14 dB, in noise", add(delayed(agent, 80, 14), whiteNoise(3, 2, 0.001))},
		{"60 ms, -20 dB, in a room", delayed(room(agent), 60, 20)},
		{"200 ms, -20 dB, in a room with a fan", add(delayed(room(agent), 200, 20), atLevel(-55, rumble(5, 3)))},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			g.Expect(foreign(c.mic, agent)).To(gomega.BeEmpty())
			nobody := make([]float32, len(agent))
			g.Expect(foreign(c.mic, nobody)).NotTo(gomega.BeEmpty(), "without the reference it would be somebody")
		})
	}
}

// A user who speaks over the echo is found about as early as without it.
func TestAPersonOverAnEchoIsFound(t *testing.T) {
	agent := newSpeaker(110).say(12)
	for _, loss := range []float64{14, 20, 35} {
		for _, pitch := range []float64{100, 150, 210} {
			for _, begins := range []float64{3.1, 6.37, 9} {
				t.Run(fmt.Sprintf("-%.0f dB, %.0f Hz, at %.2f s", loss, pitch, begins), func(t *testing.T) {
					g := gomega.NewWithT(t)
					person := concat(quiet(begins), newSpeaker(pitch).say(12-begins))
					mic := add(delayed(room(agent), 70, loss), person)
					found := foreign(mic, agent)
					g.Expect(found).NotTo(gomega.BeEmpty())
					g.Expect(found[0]-len(quiet(begins))/FrameSize).To(gomega.BeNumerically("~", 8, 8), "frames after the onset")
				})
			}
		}
	}
}

func TestAnEchoForgets(t *testing.T) {
	g := gomega.NewWithT(t)
	agent := newSpeaker(120).say(2)
	used, fresh := NewEcho(), NewEcho()
	for i := 0; i+FrameSize <= len(agent); i += FrameSize {
		used.Frame(agent[i:i+FrameSize], agent[i:i+FrameSize])
	}
	used.Reset()
	person := newSpeaker(200).say(2)
	for i := 0; i+FrameSize <= len(person); i += FrameSize {
		mic, playback := person[i:i+FrameSize], agent[i:i+FrameSize]
		g.Expect(used.Frame(mic, playback)).To(gomega.Equal(fresh.Frame(mic, playback)))
	}
}

func TestAnEchoTakesFramesOfOneSize(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(func() { NewEcho().Frame(make([]float32, 1), nil) }).To(gomega.Panic())
	g.Expect(func() { NewEcho().Frame(make([]float32, FrameSize), make([]float32, 1)) }).To(gomega.Panic())
	g.Expect(NewEcho().Frame(make([]float32, FrameSize), nil)).To(gomega.BeTrue(), "silence needs no explanation")
	x := make([]float32, FrameSize)
	e := NewEcho()
	g.Expect(testing.AllocsPerRun(100, func() { e.Frame(x, x) })).To(gomega.BeZero())
}

// Where there is no echo at all, as with headphones, a quiet user soon need not speak against the first gain.
func TestAQuietPersonWithHeadphonesIsFound(t *testing.T) {
	g := gomega.NewWithT(t)
	agent := atLevel(-15, newSpeaker(110).say(8))
	const begins = 5.0
	person := concat(quiet(begins), atLevel(-32, newSpeaker(170).say(3)))
	silence := make([]float32, len(agent))
	found, alone := foreign(person, agent), foreign(person, silence)
	g.Expect(alone).NotTo(gomega.BeEmpty())
	g.Expect(found).NotTo(gomega.BeEmpty())
	g.Expect(found[0]).To(gomega.BeNumerically("~", alone[0], 3))
}

// Noise is no echo, however loud the agent is: with headphones a user in noise is found nearly as early as where nothing is played.
func TestAPersonInNoiseIsFoundOverAnAgent(t *testing.T) {
	agent := concat(quiet(2), atLevel(-15, newSpeaker(110).say(10)))
	silence := make([]float32, len(agent))
	for _, pitch := range []float64{100, 150, 210} {
		for _, begins := range []float64{7.1, 8.37, 10} {
			t.Run(fmt.Sprintf("%.0f Hz, at %.2f s", pitch, begins), func(t *testing.T) {
				g := gomega.NewWithT(t)
				person := concat(quiet(begins), atLevel(-25, newSpeaker(pitch).say(12-begins)))
				mic := add(person, atLevel(-35, rumble(5, 12)))
				alone, found := foreign(mic, silence), foreign(mic, agent)
				g.Expect(alone).NotTo(gomega.BeEmpty())
				g.Expect(found).NotTo(gomega.BeEmpty())
				g.Expect(found[0]-alone[0]).To(gomega.BeNumerically("<=", 5), "frames later")
			})
		}
	}
}

// A microphone that is digitally silent costs no judgement once there is certainly no echo. What is heard after it is judged as if all had been.
func TestASilentMicrophoneNeedsNoJudgement(t *testing.T) {
	agent := concat(quiet(0.3), atLevel(-18, newSpeaker(110).say(11)), quiet(1), atLevel(-24, newSpeaker(140).say(5)))
	for name, heard := range map[string][]float32{
		"a soft person":              atLevel(-45, newSpeaker(170).say(2)),
		"a person":                   atLevel(-30, newSpeaker(210).say(2)),
		"the echo, where none was":   delayed(agent, 80, 20)[11*FrameRate : 13*FrameRate],
		"a soft person over an echo": add(atLevel(-40, newSpeaker(170).say(2)), delayed(agent, 80, 30)[11*FrameRate:13*FrameRate]),
		"hiss":                       whiteNoise(1, 2, 0.001),
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			mic := concat(quiet(11), heard, quiet(2), heard, quiet(1))
			quick, whole := NewEcho(), NewEcho()
			left, behind := 0, false
			for i := 0; i+FrameSize <= len(mic); i += FrameSize {
				frame, playback := mic[i:i+FrameSize], agent[i:i+FrameSize]
				expected := whole.Frame(frame, playback)
				quick.d.Frame(frame)
				if quick.Needless(quick.d) {
					g.Expect(expected).To(gomega.BeTrue())
					left, behind = left+1, true
					continue
				}
				for n := EchoFrames; behind && n > 0; n-- {
					quick.Play(agent[i-n*FrameSize : i-(n-1)*FrameSize])
				}
				behind = false
				g.Expect(quick.FrameOf(quick.d, playback)).To(gomega.Equal(expected), "frame %d", i/FrameSize)
			}
			g.Expect(left).To(gomega.BeNumerically(">", 600), "frames that were left out")
		})
	}
}
