package voice

import "math/bits"

// This file has G.711.

// G.711 (ITU-T, 1988) codes a sample in eight bits: a sign, three bits for the segment, and four bits for the position in the segment. The step
// doubles from one segment to the next. The telephone network uses both laws, at 8000 Hz.
const (
	muLawBias = 132 // 33 of the standard's 14-bit scale, on the scale of int16
	muLawMax  = 32635
	aLawMask  = 0x55 // even bits go out inverted
)

// AppendMuLaw appends src to dst, coded by the mu-law of G.711.
func AppendMuLaw(dst []byte, src []int16) []byte {
	for _, s := range src {
		dst = append(dst, toMuLaw(s))
	}
	return dst
}

// MuLawToPCM16 appends the mu-law bytes in src to dst as samples.
func MuLawToPCM16(dst []int16, src []byte) []int16 {
	for _, b := range src {
		dst = append(dst, fromMuLaw(b))
	}
	return dst
}

// AppendALaw appends src to dst, coded by the A-law of G.711.
func AppendALaw(dst []byte, src []int16) []byte {
	for _, s := range src {
		dst = append(dst, toALaw(s))
	}
	return dst
}

// ALawToPCM16 appends the A-law bytes in src to dst as samples.
func ALawToPCM16(dst []int16, src []byte) []int16 {
	for _, b := range src {
		dst = append(dst, fromALaw(b))
	}
	return dst
}

func toMuLaw(s int16) byte {
	v, sign := int(s), byte(0)
	if v < 0 {
		v, sign = -v, 0x80
	}
	v = min(v, muLawMax) + muLawBias
	segment := bits.Len(uint(v)) - 8 // the bias makes the least value 132, in segment 0
	return ^(sign | byte(segment<<4) | byte(v>>(segment+3)&0xf))
}

func fromMuLaw(b byte) int16 {
	b = ^b
	segment, step := b>>4&7, int(b&0xf)
	v := (step<<3+muLawBias)<<segment - muLawBias
	if b&0x80 != 0 {
		return int16(-v)
	}
	return int16(v)
}

func toALaw(s int16) byte {
	v, sign := int(s), byte(0x80)
	if v < 0 {
		v, sign = ^v, 0
	}
	segment := max(bits.Len(uint(v))-8, 0) // the two lowest segments have the same step
	step := v >> 4
	if segment > 0 {
		step = v >> (segment + 3)
	}
	return (sign | byte(segment<<4) | byte(step&0xf)) ^ aLawMask
}

func fromALaw(b byte) int16 {
	b ^= aLawMask
	segment, step := b>>4&7, int(b&0xf)
	v := step<<4 + 8 // the middle of the step
	if segment > 0 {
		v = (v + 256) << (segment - 1)
	}
	if b&0x80 == 0 {
		return int16(-v)
	}
	return int16(v)
}
