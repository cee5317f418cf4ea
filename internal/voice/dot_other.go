//go:build !amd64 || tinygo

package voice

// This file has the inner product for all other processors.

// dot returns the inner product of x and the first len(x) elements of h; len(x) is a multiple of four.
func dot(x, h []float32) float32 { return dotGo(x, h) }
