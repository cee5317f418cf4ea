package main

// The garbage collector of the server.

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/onsi/gomega"
)

func TestTheCollectorIsTuned(t *testing.T) {
	g := gomega.NewWithT(t)
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	t.Setenv("GOGC", "77")
	tuneCollector()
	g.Expect(debug.SetGCPercent(77)).To(gomega.Equal(77), "GOGC says so")
	g.Expect(os.Unsetenv("GOGC")).To(gomega.Succeed()) // Setenv restores it
	tuneCollector()
	g.Expect(debug.SetGCPercent(77)).To(gomega.Equal(collectAt))
}
