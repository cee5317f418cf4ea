package voice

// This file measures levels.

import "math"

// MinDBFS is the lowest level that DBFS returns, in dBFS.
const MinDBFS = -120

// RMS returns the root mean square of samples in [-1, 1], 0 for none. A full-scale sine has 0.7071.
func RMS(samples []float32) float32 {
	if len(samples) == 0 {
		return 0
	}
	var sum float64
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return float32(math.Sqrt(sum / float64(len(samples))))
}

// DBFS turns an amplitude (a peak or an RMS, full scale 1) into decibels relative to full scale, MinDBFS at least.
// An RMS of 1 is 0 dBFS, so a full-scale sine is at -3.01 dBFS.
func DBFS(amplitude float32) float32 {
	const least = 1e-6 // MinDBFS as an amplitude
	if !(amplitude > least) {
		return MinDBFS
	}
	return float32(20 / math.Ln10 * logarithm(float64(amplitude)))
}

// Amplitude is the inverse of DBFS: the amplitude (full scale 1) at a level in dBFS.
func Amplitude(dbfs float32) float32 {
	return float32(exponential(math.Ln10 / 20 * float64(dbfs)))
}
