package voice

import (
	"math"
	"testing"

	"github.com/onsi/gomega"
)

func TestLevelsOfKnownSignals(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(RMS(nil)).To(gomega.BeZero())
	g.Expect(RMS(tone(1000, 1))).To(gomega.BeNumerically("~", math.Sqrt2/2, 1e-4))
	g.Expect(DBFS(RMS(tone(1000, 1)))).To(gomega.BeNumerically("~", -3.0103, 1e-3))
	g.Expect(DBFS(1)).To(gomega.BeZero())
	g.Expect(DBFS(0.1)).To(gomega.BeNumerically("~", -20, 1e-4))
	for _, silent := range []float32{0, 1e-9, -1, float32(math.NaN())} {
		g.Expect(DBFS(silent)).To(gomega.Equal(float32(MinDBFS)))
	}
	g.Expect(Amplitude(-20)).To(gomega.BeNumerically("~", 0.1, 1e-6))
	g.Expect(DBFS(Amplitude(-47))).To(gomega.BeNumerically("~", -47, 1e-4))
}

func TestDecibelsEqualTheLogarithm(t *testing.T) {
	g := gomega.NewWithT(t)
	for p := 1e-14; p < 1e6; p *= 1.0137 {
		g.Expect(float64(decibels(float32(p)))).To(gomega.BeNumerically("~", 10*math.Log10(p), 0.001), "%g", p)
	}
	for _, p := range []float32{0, -1, 1e-20, float32(math.NaN())} {
		g.Expect(decibels(p)).To(gomega.Equal(float32(-150)))
	}
}
