package voice

import "math"

// This file designs the filter of the resampler.

// The filter is a windowed sinc. Its stop-band begins at the Nyquist frequency of the lower rate. The length and the shape of the Kaiser window
// follow from pass-band and stop-band by Kaiser's formulas (J. F. Kaiser, "Nonrecursive digital filter design
// using the I0-sinh window function", 1974).
const (
	// ResamplerPassBand is the edge of the pass-band as a share of half the lower of the two rates: 6800 Hz for 16 kHz.
	ResamplerPassBand = 0.85
	// ResamplerStopBand is how far aliases and images are below the signal, in decibels.
	ResamplerStopBand = 80

	// The design is a little better than required, because Kaiser's formulas are estimates.
	designStopBand = ResamplerStopBand + 4
)

// designBank returns the filter for the rate change up/down as up phases of taps coefficients (a multiple of four),
// each reversed, so that an output is the inner product with the input in its order.
func designBank(up, down int) (bank []float32, taps int) {
	// Times are counted in input samples, frequencies in cycles per input sample.
	nyquist := 0.5 * min(1, float64(up)/float64(down))
	width := nyquist * (1 - ResamplerPassBand)
	taps = int(math.Ceil((designStopBand - 8) / (2.285 * 2 * math.Pi * width)))
	taps = (taps/4 + 1) * 4
	cutoff := nyquist - width/2
	beta := 0.1102 * (designStopBand - 8.7)
	half := float64(taps) / 2

	bank = make([]float32, 0, up*taps)
	phase := make([]float64, taps)
	for p := range up {
		// The output lies p/up after the sample taps/2-1 of the history.
		centre := half - 1 + float64(p)/float64(up)
		var sum float64
		for i := range phase {
			t := float64(i) - centre
			phase[i] = sinc(2*cutoff*t) * kaiser(t/half, beta)
			sum += phase[i]
		}
		for _, c := range phase {
			bank = append(bank, float32(c/sum)) // each phase passes a constant unchanged
		}
	}
	return bank, taps
}

// sinc returns sin(pi x)/(pi x).
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kaiser returns the Kaiser window at x in [-1, 1], and 0 outside.
func kaiser(x, beta float64) float64 {
	if x <= -1 || x >= 1 {
		return 0
	}
	return bessel0(beta*math.Sqrt(1-x*x)) / bessel0(beta)
}

// bessel0 returns the modified Bessel function of the first kind of order zero, by its power series.
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > 1e-16*sum; k++ {
		term *= x / (2 * k) * (x / (2 * k))
		sum += term
	}
	return sum
}
