package voice

import (
	"math"
	"testing"

	"github.com/onsi/gomega"
)

func TestPCM16ThroughFloatIsTheIdentity(t *testing.T) {
	g := gomega.NewWithT(t)
	var all []int16
	for s := math.MinInt16; s <= math.MaxInt16; s++ {
		all = append(all, int16(s))
	}
	g.Expect(FloatToPCM16(nil, PCM16ToFloat(nil, all))).To(gomega.Equal(all))
}

func TestFloatToPCM16RoundsAndClips(t *testing.T) {
	nan := float32(math.NaN())
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		name string
		in   float32
		want int16
	}{
		{"silence", 0, 0},
		{"full scale is one step too much", 1, 32767},
		{"negative full scale fits", -1, -32768},
		{"above full scale", 1.5, 32767},
		{"under negative full scale", -7, -32768},
		{"infinity", inf, 32767},
		{"negative infinity", -inf, -32768},
		{"not a number", nan, 0},
		{"less than half a step", 0.49 / 32768, 0},
		{"more than half a step", 0.51 / 32768, 1},
		{"less than half a step down", -0.49 / 32768, 0},
		{"more than half a step down", -0.51 / 32768, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(FloatToPCM16(nil, []float32{c.in})).To(gomega.Equal([]int16{c.want}))
		})
	}
}

func TestBytesArePCM16LittleEndian(t *testing.T) {
	g := gomega.NewWithT(t)
	pcm := []int16{0, 1, -1, 0x1234, math.MaxInt16, math.MinInt16}
	data := PCM16ToBytes(nil, pcm)
	g.Expect(data).To(gomega.Equal([]byte{0, 0, 1, 0, 0xFF, 0xFF, 0x34, 0x12, 0xFF, 0x7F, 0, 0x80}))
	g.Expect(BytesToPCM16(nil, data)).To(gomega.Equal(pcm))
	g.Expect(BytesToPCM16([]int16{7}, data[:3])).To(gomega.Equal([]int16{7, 0}), "an odd byte is left out")
}
