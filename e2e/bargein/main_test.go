package main

// Tests of the page that the benchmark writes.

import (
	"testing"

	"github.com/onsi/gomega"
)

// TestOtherMeasurementsStay: the benchmark writes its own part of the page anew and keeps the rest.
func TestOtherMeasurementsStay(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(string(restOfPage([]byte("# Barge-in, measured\n\n## Targets\n\n# Faults\n\n## Figures\n")))).To(gomega.Equal("\n\n# Faults\n\n## Figures\n"))
	g.Expect(restOfPage([]byte("# Barge-in, measured\n\n## Targets\n"))).To(gomega.BeEmpty())
	g.Expect(restOfPage(nil)).To(gomega.BeEmpty())
}
