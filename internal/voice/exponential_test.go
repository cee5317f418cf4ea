package voice

import (
	"math"
	"testing"

	"github.com/onsi/gomega"
)

func TestTheLogarithmAndItsInverse(t *testing.T) {
	g := gomega.NewWithT(t)
	for x := 1e-300; x < 1e300; x *= 1.37 {
		g.Expect(logarithm(x)).To(gomega.BeNumerically("~", math.Log(x), 1e-15*max(1, math.Abs(math.Log(x)))), "of %g", x)
	}
	for x := -699.0; x < 700; x += 0.173 {
		g.Expect(exponential(x)/math.Exp(x)).To(gomega.BeNumerically("~", 1, 1e-13), "to the power of %g", x)
	}
	g.Expect(logarithm(1)).To(gomega.BeZero())
	g.Expect(exponential(0)).To(gomega.BeEquivalentTo(1))
}
