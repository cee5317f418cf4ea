package load

// The load between two looks.

import (
	"runtime"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// The load is what happened since the last measurement, and a few frames say nothing.
func TestLoadIsMeasured(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(1000, 0)
	var m Meter
	look := func(after time.Duration, sent, late uint64, cpu time.Duration) (float64, float64) {
		now = now.Add(after)
		return m.Look(now, sent, late, cpu)
	}
	late, cpu := look(0, 10_000, 9_000, time.Hour)
	g.Expect([]float64{late, cpu}).To(gomega.Equal([]float64{0, 0}), "nothing is measured yet")
	half := time.Duration(runtime.GOMAXPROCS(0)) * time.Second
	late, cpu = look(2*time.Second, 11_000, 9_100, time.Hour+half)
	g.Expect(late).To(gomega.BeNumerically("~", 10))
	g.Expect(cpu).To(gomega.BeNumerically("~", 50))
	late, _ = look(time.Second, 20_000, 9_100, time.Hour+half)
	g.Expect(late).To(gomega.BeNumerically("~", 10), "it is too early to measure again")
	late, cpu = look(time.Second, 11_010, 9_110, time.Hour+half)
	g.Expect([]float64{late, cpu}).To(gomega.Equal([]float64{0, 0}), "a few frames say nothing")
}
