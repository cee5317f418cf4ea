package rig

// A recording is read from what a page gives.

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestARecordingIsRead(t *testing.T) {
	g := gomega.NewWithT(t)
	given := raw{Rate: 1000, PCM: "AQD//wAB", At: []float64{0, 2}, N: []int{2, 1}}
	rec, err := given.decode()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(rec.PCM).To(gomega.Equal([]int16{1, -1, 256}))
	g.Expect([]float64{rec.At(0), rec.At(1), rec.At(2)}).To(gomega.Equal([]float64{0, 1, 2}))
	_, err = given.settle()
	g.Expect(err).To(gomega.HaveOccurred(), "nobody knows when the page got the frames")
	given.Got = []float64{7, 5}
	rec, err = given.settle()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect([]float64{rec.At(0), rec.At(2)}).To(gomega.Equal([]float64{3, 5}), "each as late as the least delayed frame")
	given.N[1] = 2
	_, err = given.decode()
	g.Expect(err).To(gomega.HaveOccurred(), "it does not add up")
}
