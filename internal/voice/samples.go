package voice

// This file has the measure of time in this package: samples.

// Samples is a number of samples, or a position counted in samples, at a rate that its context states.
// It is the only measure of time in this package.
type Samples int64

// The detector's frame: 10 ms of mono sound.
const (
	// FrameRate is the sample rate of the detector's input in hertz.
	FrameRate = 16000
	// FrameSize is the number of samples in one frame at FrameRate.
	FrameSize = 160
)

// Milliseconds returns the duration of n samples at rate (in hertz, above 0), rounded towards zero.
func (n Samples) Milliseconds(rate int) int64 {
	return int64(n) * 1000 / int64(rate)
}

// longest is 35 years in milliseconds: a client may name any time, and no product of this one overflows.
const longest = 1 << 40

// SamplesIn returns the number of samples in ms milliseconds at rate (in hertz), rounded towards zero. It takes a time above 35 years for 35 years.
func SamplesIn(ms int64, rate int) Samples {
	return Samples(min(max(ms, -longest), longest) * int64(rate) / 1000)
}
