package main

// The bounds of the flags of `antiphon bench`.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func TestBenchRefusesTooLargeFlags(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect((&bench{Time: time.Hour}).Run(t.Context())).To(gomega.MatchError(gomega.ContainSubstring("--time")))
	g.Expect((&bench{Time: maxBenchTime, Sessions: 1e6}).Run(t.Context())).To(gomega.MatchError(gomega.ContainSubstring("--sessions")))
}
