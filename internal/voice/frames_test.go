package voice

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestFramerCutsTheSameFramesWhateverThePieces(t *testing.T) {
	x := whiteNoise(1, 0.1, 0.1)
	for _, piece := range []int{1, 7, 159, 160, 161, 480, len(x)} {
		g := gomega.NewWithT(t)
		var f Framer
		var got []float32
		for at := 0; at < len(x); at += piece {
			rest := x[at:min(at+piece, len(x))]
			for len(rest) > 0 {
				var frame []float32
				if frame, rest = f.Push(rest); frame != nil {
					g.Expect(frame).To(gomega.HaveLen(FrameSize))
					got = append(got, frame...)
				}
			}
		}
		g.Expect(got).To(gomega.Equal(x), "pieces of %d", piece)
	}
}

func TestSamplesConvert(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(Samples(24000).Milliseconds(24000)).To(gomega.Equal(int64(1000)))
	g.Expect(Samples(239).Milliseconds(24000)).To(gomega.Equal(int64(9)))
	g.Expect(SamplesIn(20, 48000)).To(gomega.Equal(Samples(960)))
}
