//go:build race

package session

// The number of random runs with the race detector, which makes each of them about ten times slower.

// replayed: one session of so many plays again. Without the race detector, those of the end-to-end tests do.
const replayed = 8

// rounds returns how many of n random runs a test has: a quarter.
func rounds(n uint64) uint64 { return n / 4 }
