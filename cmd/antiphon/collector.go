package main

// This file tunes Go's garbage collector for a server of calls.

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// leastGrowth and mostGrowth are by how many percent the memory may grow between two collections. mostGrowth is Go's default, and doubles
	// the memory of a call. With leastGrowth, collections take some 3 % of the time under load: most of a call's memory is buffers of audio
	// without pointers, which a collection does not read.
	leastGrowth, mostGrowth = 25, 100
	// smallGrowth is by how many bytes the memory may always grow, within mostGrowth: a server with few calls must not collect all the time.
	smallGrowth = 16 << 20
	// tuneEvery is how often the server looks at its memory.
	tuneEvery = time.Second
)

// growth returns by how many percent the memory may grow between two collections if so many bytes of it are in use.
func growth(live uint64) int {
	return int(min(max(100*smallGrowth/max(live, 1), leastGrowth), mostGrowth))
}

// tuneCollector sets the garbage collector to growth until ctx is done, unless the environment variable GOGC sets it.
func tuneCollector(ctx context.Context) {
	if _, set := os.LookupEnv("GOGC"); set {
		return
	}
	tick := time.NewTicker(tuneEvery)
	defer tick.Stop()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for now := mostGrowth; ; {
		metrics.Read(live)
		if want := growth(live[0].Value.Uint64()); want != now {
			debug.SetGCPercent(want)
			now = want
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
