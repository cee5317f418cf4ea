//go:build !tinygo

package voice

// This file declares the inner product in assembly.

// dot returns the inner product of x and the first len(x) elements of h; len(x) is a multiple of four.
func dot(x, h []float32) float32 { return dotSSE(x, h[:len(x)]) }

// dotSSE is dot for slices of one length.
//
//go:noescape
func dotSSE(x, h []float32) float32
