package voice

import (
	"math"
	"testing"

	"github.com/onsi/gomega"
)

func TestSpectrumEqualsTheTransformByItsDefinition(t *testing.T) {
	g := gomega.NewWithT(t)
	var s spectrum
	s.init()
	var x [windowSize]float32
	noise := newNoise(1)
	for i := range x {
		x[i] = noise.white()
	}
	var p [binCount]float32
	s.power(&p, &x)
	for k := range p {
		var re, im float64
		for n, v := range x {
			a := 2 * math.Pi * float64(k*n%windowSize) / windowSize
			re += float64(v) * math.Cos(a)
			im -= float64(v) * math.Sin(a)
		}
		want := re*re + im*im
		g.Expect(float64(p[k])).To(gomega.BeNumerically("~", want, 1e-4*want+1e-4), "bin %d", k)
	}
}

func BenchmarkSpectrum(b *testing.B) {
	var s spectrum
	s.init()
	var x [windowSize]float32
	noise := newNoise(1)
	for i := range x {
		x[i] = noise.white()
	}
	var p [binCount]float32
	for b.Loop() {
		s.power(&p, &x)
	}
}
