package main

// The garbage collector of the server.

import (
	"context"
	"os"
	"runtime/debug"
	"testing"

	"github.com/onsi/gomega"
)

func TestMemoryMayGrow(t *testing.T) {
	for name, row := range map[string]struct {
		live uint64
		want int
	}{
		"before the first collection": {0, 100},
		"a server without calls":      {8 << 20, 100},
		"some calls":                  {32 << 20, 50},
		"many calls":                  {64 << 20, 25},
		"very many calls":             {1 << 30, 25},
	} {
		t.Run(name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(growth(row.live)).To(gomega.Equal(row.want))
		})
	}
}

func TestTheCollectorIsTuned(t *testing.T) {
	g := gomega.NewWithT(t)
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // one look at the memory
	ballast := make([]byte, 256<<20)
	debug.FreeOSMemory() // collects, so that the memory in use is known
	t.Setenv("GOGC", "77")
	tuneCollector(ctx)
	g.Expect(debug.SetGCPercent(77)).To(gomega.Equal(77), "GOGC says so")
	g.Expect(os.Unsetenv("GOGC")).To(gomega.Succeed()) // Setenv restores it
	tuneCollector(ctx)
	g.Expect(debug.SetGCPercent(77)).To(gomega.Equal(leastGrowth))
	g.Expect(ballast).To(gomega.HaveLen(256 << 20))
}
