package sounds

// The reference back end with sounds that a test can make. docs/benchmarks.md has its figures for recordings.

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

const rate = 16000

// tones returns a second of sines together.
func tones(hz ...float64) []float32 {
	x := make([]float32, rate)
	for i := range x {
		for _, f := range hz {
			x[i] += float32(0.1 * math.Sin(2*math.Pi*f*float64(i)/rate))
		}
	}
	return x
}

// hiss returns n samples of white noise.
func hiss(n int, gain float64) []float32 {
	random := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(gain * random.NormFloat64())
	}
	return x
}

// melody returns four seconds of notes with five harmonics, four notes a second.
func melody() []float32 {
	x := make([]float32, 4*rate)
	for i := range x {
		note := 220 * math.Pow(2, float64([]int{0, 4, 7, 12, 7, 4}[i/(rate/4)%6])/12)
		for h := 1.0; h <= 5; h++ {
			x[i] += float32(0.1 / h * math.Sin(2*math.Pi*note*h*float64(i)/rate))
		}
	}
	return x
}

// words returns four seconds like speech: a harmonic sound whose pitch and whose formant move, in syllables with pauses between.
func words() []float32 {
	x := make([]float32, 4*rate)
	phase := 0.0
	for i := range x {
		t := float64(i) / rate
		syllable := math.Mod(t, 0.22)
		pitch := 120 + 60*math.Sin(2*math.Pi*1.3*t) + 150*syllable
		phase += 2 * math.Pi * pitch / rate
		formant := 700 + 500*math.Sin(2*math.Pi*2.7*t)
		loud := math.Max(0, math.Sin(math.Pi*syllable/0.16))
		if syllable > 0.16 {
			loud = 0
		}
		for h := 1.0; h <= 20; h++ {
			far := (h*pitch - formant) / 300
			x[i] += float32(0.1 * loud * (math.Exp(-far*far) + 0.03) * math.Sin(h*phase))
		}
	}
	return x
}

func TestReference(t *testing.T) {
	click := make([]float32, rate)
	for i, v := range hiss(300, 0.5) {
		click[4000+i] = v * float32(math.Exp(-float64(i)/60))
	}
	for _, row := range []struct {
		name, want string
		pcm        []float32
	}{
		{"dial tone of the US", Tone, tones(350, 440)},
		{"dial tone of Europe", Tone, tones(425)},
		{"dial tone on a line with noise", Tone, add(tones(425), hiss(rate, 0.001))},
		{"key of a telephone", Tone, tones(770, 1336)},
		{"white noise", Noise, hiss(2*rate, 0.05)},
		{"melody", Music, melody()},
		{"syllables", Speech, words()},
		{"key stroke", Click, click},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			tags, err := Reference{}.Tag(t.Context(), row.pcm)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(tags).NotTo(gomega.BeEmpty())
			g.Expect(tags[0].Name).To(gomega.Equal(row.want))
			g.Expect(tags[0].Length).To(gomega.BeNumerically(">", 0))
		})
	}
}

func add(x, y []float32) []float32 {
	for i := range x {
		x[i] += y[i]
	}
	return x
}

func TestSoundsThatFollowEachOther(t *testing.T) {
	g := gomega.NewWithT(t)
	tags, err := Reference{}.Tag(t.Context(), append(append(hiss(3*rate, 0.05), tones(425)...), tones(425)...))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(len(tags)).To(gomega.BeNumerically(">=", 2))
	g.Expect([]string{tags[0].Name, tags[1].Name}).To(gomega.Equal([]string{Noise, Tone}))
	g.Expect(tags[0].Length).To(gomega.BeNumerically("~", 3*time.Second, 200*time.Millisecond))
}

func TestSilenceHasNoSounds(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, pcm := range [][]float32{nil, make([]float32, 100), make([]float32, 2*rate)} {
		g.Expect(Reference{}.Tag(t.Context(), pcm)).To(gomega.BeEmpty())
	}
}

func TestTagEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Reference{}.Tag(ctx, hiss(rate, 0.1))
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(context.Canceled))
}
