package mel

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestMelIsItsOwnInverse(t *testing.T) {
	for _, hz := range []float64{0, 200, 1000, 3700, 8000} {
		gomega.NewWithT(t).Expect(hertz(mel(hz))).To(gomega.BeNumerically("~", hz, 1e-6))
	}
}
