package figures

// A percentile is one of the times.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func TestPercentile(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(Percentile(nil, 50)).To(gomega.BeZero())
	g.Expect(Percentile([]time.Duration{3, 1, 2}, 50)).To(gomega.Equal(time.Duration(2)))
	g.Expect(Percentile([]time.Duration{3, 1, 2}, 99)).To(gomega.Equal(time.Duration(3)))
	g.Expect(Percentile([]time.Duration{3, 1, 2}, 100)).To(gomega.Equal(time.Duration(3)))
}
