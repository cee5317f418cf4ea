//go:build !race

package session

// The number of random runs without the race detector.

// replayed: each session plays again.
const replayed = 1

// rounds returns how many of n random runs a test has: all of them.
func rounds(n uint64) uint64 { return n }
