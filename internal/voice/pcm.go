package voice

// This file converts samples between integers, floats and bytes.

import "math"

const (
	pcmScale = 32768
	pcmMax   = math.MaxInt16
	pcmMin   = math.MinInt16
)

// PCM16ToFloat appends src to dst as floats in [-1, 1): sample/32768, which loses nothing.
func PCM16ToFloat(dst []float32, src []int16) []float32 {
	for _, s := range src {
		dst = append(dst, float32(s)*(1.0/pcmScale))
	}
	return dst
}

// FloatToPCM16 appends src to dst as 16-bit samples: times 32768, rounded to the nearest (halves away from zero),
// clipped to the range of int16. NaN becomes 0. PCM16ToFloat followed by FloatToPCM16 is the identity.
func FloatToPCM16(dst []int16, src []float32) []int16 {
	for _, s := range src {
		dst = append(dst, toPCM16(s))
	}
	return dst
}

// BytesToPCM16 appends the little-endian 16-bit samples in src to dst. An odd last byte is half a sample and is left
// out; a caller that gets a stream in pieces must keep it for the next piece.
func BytesToPCM16(dst []int16, src []byte) []int16 {
	for len(src) >= 2 {
		dst = append(dst, int16(uint16(src[0])|uint16(src[1])<<8))
		src = src[2:]
	}
	return dst
}

// PCM16ToBytes appends src to dst as little-endian 16-bit samples.
func PCM16ToBytes(dst []byte, src []int16) []byte {
	for _, s := range src {
		dst = append(dst, byte(s), byte(uint16(s)>>8))
	}
	return dst
}

// toPCM16 rounds by adding a half with the sample's sign before the truncation. The comparisons come first because the
// conversion of a float outside the range of the integer type gives different values on different machines.
func toPCM16(s float32) int16 {
	v := s * pcmScale
	switch {
	case v >= pcmMax:
		return pcmMax
	case v <= pcmMin:
		return pcmMin
	case v >= 0:
		return int16(v + 0.5)
	case v < 0:
		return int16(v - 0.5)
	default:
		return 0
	}
}
