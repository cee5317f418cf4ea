package voice

// This file has the inner product: the filter of the resampler and the transform of the harmonicity take most of their time in it.

// dotGo is dot without assembly. Four sums hide the latency of the additions. The assembly adds in the same order.
func dotGo(x, h []float32) float32 {
	var a, b, c, d float32
	h = h[:len(x)]
	for i := 0; i+4 <= len(x); i += 4 {
		p, q := (*[4]float32)(x[i:]), (*[4]float32)(h[i:]) // one check of bounds each
		a += p[0] * q[0]
		b += p[1] * q[1]
		c += p[2] * q[2]
		d += p[3] * q[3]
	}
	return (a + b) + (c + d)
}
