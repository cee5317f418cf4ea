package main

// The table has a row for each store and each kind of request.

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func TestTable(t *testing.T) {
	g := gomega.NewWithT(t)
	var out strings.Builder
	g.Expect(run(t.Context(), options{n: 2, folder: t.TempDir()}, &out)).To(gomega.Succeed())
	g.Expect(strings.Count(out.String(), " ms | ")).To(gomega.Equal(2 * (2 + 10*len(stores))))
	g.Expect(out.String()).To(gomega.ContainSubstring("memory of this process"))
	g.Expect(run(t.Context(), options{n: 0}, &out)).To(gomega.MatchError(gomega.ContainSubstring("-n")))
}

func TestPercentile(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(percentile(nil, 50)).To(gomega.BeZero())
	g.Expect(percentile([]time.Duration{3, 1, 2}, 50)).To(gomega.Equal(time.Duration(2)))
	g.Expect(percentile([]time.Duration{3, 1, 2}, 99)).To(gomega.Equal(time.Duration(3)))
}
