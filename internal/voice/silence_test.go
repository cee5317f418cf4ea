package voice

// Digital silence takes less work, and gives the same result to the last bit.

import (
	"math"
	"testing"

	"github.com/onsi/gomega"
)

// never makes a count of silence too low to reach any number.
const never = math.MinInt / 2

// withPauses is speech between stretches of digital silence of many lengths.
func withPauses() (x []float32) {
	for _, pause := range []float64{0.5, 0.001, 0.02, 0.0301, 0.04, 0.3, 1} {
		x = concat(x, quiet(pause), newSpeaker(110).say(0.3))
	}
	return concat(x, quiet(1))
}

func TestTheDetectorMeasuresSilenceAsItDoesSound(t *testing.T) {
	g := gomega.NewWithT(t)
	quick, whole := NewDetector(DetectorConfig{}), NewDetector(DetectorConfig{})
	short := 0
	for x := withPauses(); len(x) >= FrameSize; x = x[FrameSize:] {
		whole.silent = never
		g.Expect(quick.Frame(x[:FrameSize])).To(gomega.Equal(whole.Frame(x[:FrameSize])))
		g.Expect(quick.features).To(gomega.Equal(whole.features))
		g.Expect(quick.bands).To(gomega.Equal(whole.bands))
		g.Expect(quick.harmonicity).To(gomega.Equal(whole.harmonicity))
		if quick.silent >= silentFrames {
			short++
		}
	}
	g.Expect(short).To(gomega.BeNumerically(">", 100), "frames that took less work")
}

// A detector that rests decides as one that does not. Its counters stand still meanwhile, so the rest is as long as all of them take to come round.
func TestTheDetectorRestsInALongSilence(t *testing.T) {
	g := gomega.NewWithT(t)
	const round = 960 // frames: minimaFrames*minimaBlocks, extremaFrames*extremaBlocks, fluxFrames and changeFrames divide it
	quick, whole := NewDetector(DetectorConfig{}), NewDetector(DetectorConfig{})
	pause := func(rest int) []float32 { return make([]float32, (restFrames-1+rest)*FrameSize) }
	rested := 0
	loud, noise := newSpeaker(110).say(2), whiteNoise(1, 2, 0.02)
	for i := range loud {
		loud[i] = clamp(20*loud[i], -1, 1)
	}
	for x := concat(loud, pause(round), noise, pause(2*round), newSpeaker(190).say(2), noise, quiet(1)); len(x) >= FrameSize; x = x[FrameSize:] {
		whole.silent = never
		g.Expect(quick.Frame(x[:FrameSize])).To(gomega.Equal(whole.Frame(x[:FrameSize])))
		if quick.silent == restFrames {
			rested++
		} else {
			g.Expect(quick.features).To(gomega.Equal(whole.features))
		}
	}
	g.Expect(rested).To(gomega.BeNumerically(">", 2*round))
}

func TestTheResamplerFiltersSilenceAsItDoesSound(t *testing.T) {
	eachPair(t, func(g *gomega.WithT, from, to int) {
		quick, whole := mustResampler(t, from, to), mustResampler(t, from, to)
		var all, expected []float32
		for x := withPauses()[:FrameRate]; len(x) > 0; {
			n := min(len(x), 97)
			all = quick.Append(all, x[:n])
			for _, sample := range x[:n] {
				whole.silent = never
				expected = whole.Append(expected, []float32{sample})
			}
			x = x[n:]
		}
		g.Expect(all).To(gomega.Equal(expected))
	})
}

// 16-bit samples give what they give as floats, also where silence takes a shorter way.
func TestTheResamplerTakesPCM(t *testing.T) {
	eachPair(t, func(g *gomega.WithT, from, to int) {
		whole := mustResampler(t, from, to)
		quick := whole.Another()
		var all, expected []float32
		sound := FloatToPCM16(nil, newSpeaker(110).say(0.05))
		for round := range 5 {
			for _, n := range []int{1, 7, 240, 1000, 3} {
				all, expected = quick.AppendFloats(all, make([]int16, n)), whole.Append(expected, make([]float32, n))
				g.Expect(all).To(gomega.HaveLen(len(expected)))
			}
			all, expected = quick.AppendFloats(all, sound[round:]), whole.Append(expected, PCM16ToFloat(nil, sound[round:]))
		}
		g.Expect(quick.Flush(all)).To(gomega.Equal(whole.Flush(expected)))
	})
}
