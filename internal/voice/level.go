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

// MeterDecay is the default rate at which a Meter falls, in decibels a second: 20 dB in 1.7 s, the return
// time of the peak programme meter of IEC 60268-10, type I.
const MeterDecay = 20 / 1.7

// Meter is a level meter for user interfaces: it rises at once to the highest peak and falls at a constant number of
// decibels a second, so that the eye can follow it. NewMeter makes one; the zero value cannot be used. Only one goroutine at a
// time may use it.
type Meter struct {
	perSample float64 // decibels by which the level falls for one sample
	level     float64
}

// NewMeter returns a meter at MinDBFS for samples at rate (in hertz, above 0) that falls by decay decibels a second;
// a decay of 0 or less means MeterDecay.
func NewMeter(rate int, decay float32) *Meter {
	if !(decay > 0) {
		decay = MeterDecay
	}
	return &Meter{perSample: float64(decay) / float64(rate), level: MinDBFS}
}

// Add measures samples in [-1, 1] and returns the level after them, in dBFS. The result depends on how the samples are
// cut into calls only by the fall within one call.
func (m *Meter) Add(samples []float32) float32 {
	var peak float32
	for _, s := range samples {
		peak = max(peak, s, -s)
	}
	m.level = max(m.level-m.perSample*float64(len(samples)), float64(DBFS(peak)), MinDBFS)
	return float32(m.level)
}

// Level returns the level after the last Add, in dBFS, MinDBFS for silence.
func (m *Meter) Level() float32 { return float32(m.level) }

// Reset sets the level to MinDBFS.
func (m *Meter) Reset() { m.level = MinDBFS }
