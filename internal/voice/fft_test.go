package voice

import (
	"math"
	"strconv"
	"testing"

	"github.com/onsi/gomega"
)

func TestSpectrumEqualsTheTransformByItsDefinition(t *testing.T) {
	for n := 4; n <= 2048; n *= 2 {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			g := gomega.NewWithT(t)
			x, p := make([]float32, n), make([]float32, n/2)
			noise := newNoise(1)
			for i := range x {
				x[i] = noise.white()
			}
			NewSpectrum(n).Power(p, x)
			for k := range p {
				var re, im float64
				for i, v := range x {
					a := 2 * math.Pi * float64(k*i%n) / float64(n)
					re += float64(v) * math.Cos(a)
					im -= float64(v) * math.Sin(a)
				}
				want := re*re + im*im
				g.Expect(float64(p[k])).To(gomega.BeNumerically("~", want, 1e-4*want+1e-4), "bin %d", k)
			}
		})
	}
}

func BenchmarkSpectrum(b *testing.B) {
	s := NewSpectrum(windowSize)
	var x [windowSize]float32
	noise := newNoise(1)
	for i := range x {
		x[i] = noise.white()
	}
	var p [binCount]float32
	for b.Loop() {
		s.Power(p[:], x[:])
	}
}
