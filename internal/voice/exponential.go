package voice

import "math"

// This file has the logarithm and the exponential function without tables. The tables of a C library are 6 kB that do not compress, and browsers
// load this package. Both functions are exact to 15 digits.

// logarithm returns the natural logarithm of x, which must be above 0. It takes an infinity for the largest number.
func logarithm(x float64) float64 {
	x = min(x, math.MaxFloat64)
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction *= 2
		exponent--
	}
	// ln f = 2 artanh s, and |s| < 0.172.
	s := (fraction - 1) / (fraction + 1)
	var series float64
	for n := 21; n > 0; n -= 2 {
		series = series*s*s + 1/float64(n)
	}
	return 2*s*series + float64(exponent)*math.Ln2
}

// exponential returns e to the power of x. It limits x to -700 .. 700.
func exponential(x float64) float64 {
	x = min(max(x, -700), 700)
	whole := math.Floor(x/math.Ln2 + 0.5)
	rest := x - whole*math.Ln2 // at most 0.35
	series := 1.0
	for n := 14; n > 0; n-- {
		series = 1 + series*rest/float64(n)
	}
	return math.Ldexp(series, int(whole))
}
