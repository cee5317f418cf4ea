package voice

// The inner product: the assembly and the Go code agree to the last bit.

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/onsi/gomega"
)

func TestDotIsTheSameInAssembly(t *testing.T) {
	g := gomega.NewWithT(t)
	random := rand.New(rand.NewPCG(1, 2))
	for n := 0; n <= 256; n += 4 {
		for from := range 4 { // slices begin at any address
			x, h := make([]float32, from+n), make([]float32, from+n+1)
			for i := range x {
				x[i], h[i] = float32(random.NormFloat64()), float32(random.NormFloat64()*math.Pow(10, float64(random.IntN(8)-4)))
			}
			g.Expect(math.Float32bits(dot(x[from:], h[from:]))).To(gomega.Equal(math.Float32bits(dotGo(x[from:], h[from:]))), "%d samples", n)
		}
	}
	g.Expect(func() { dot(make([]float32, 8), make([]float32, 4)) }).To(gomega.Panic())
}
