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
		if quick.silent == silentFrames {
			short++
		}
	}
	g.Expect(short).To(gomega.BeNumerically(">", 100), "frames that took less work")
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
