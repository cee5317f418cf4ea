package scripted

// This file recognises known recordings.

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Sizes of a fingerprint, at 16 kHz.
const (
	printHop   = pipeline.InputRate * 20 / 1000 // samples: 20 ms
	printSpan  = 1024                           // samples of one row: 64 ms
	printBands = 17                             // from 200 Hz to 3.4 kHz: 16 bits a row
	minPrint   = 10                             // rows: shorter sound cannot be distinguished
	maxPrint   = 30 * 50                        // rows: 30 s
	printSlack = 15                             // rows by which the begins of two sounds may differ: 300 ms
	printMatch = 0.3                            // share of bits that may differ; in unrelated sound about one half differ
)

// Fingerprint identifies a sound. A codec, another level, and a pause before the sound change it little. It has a row of 16 bits for
// every 20 ms from the begin of the sound. Each bit says whether the difference of the energies of two neighbouring bands has grown
// since the row before.
type Fingerprint []uint16

// FingerprintOf returns the fingerprint of a sound (mono, 16 kHz), for a fixture of a script.
func FingerprintOf(pcm []float32) Fingerprint {
	from, to := active(levels(pcm))
	return printOf(pcm[from*voice.FrameSize : to*voice.FrameSize])
}

// String returns the fingerprint in the form of a script: four hexadecimal digits for each row.
func (f Fingerprint) String() string {
	b := make([]byte, 0, 2*len(f))
	for _, row := range f {
		b = append(b, byte(row>>8), byte(row))
	}
	return hex.EncodeToString(b)
}

// ParseFingerprint reads the form that String returns.
func ParseFingerprint(s string) (Fingerprint, error) {
	b, err := hex.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("fingerprint: %w", err)
	}
	if len(b)%2 != 0 || len(b)/2 < minPrint || len(b)/2 > maxPrint {
		return nil, fmt.Errorf("fingerprint: %w", errPrintSize)
	}
	f := make(Fingerprint, 0, len(b)/2)
	for i := 0; i < len(b); i += 2 {
		f = append(f, uint16(b[i])<<8|uint16(b[i+1]))
	}
	return f, nil
}

var errPrintSize = errors.New("want four hexadecimal digits for each 20 ms, for 0.2 to 30 s of sound")

// distance returns the share of bits that differ at the position where f fits best into heard, which may be longer. It is 0 for the
// same sound and about 0.5 for an unrelated one.
func (f Fingerprint) distance(heard Fingerprint) float64 {
	best := 1.0
	for at := -printSlack; at <= max(len(heard)-len(f), 0)+printSlack; at++ {
		a, b := f[min(max(-at, 0), len(f)):], heard[min(max(at, 0), len(heard)):]
		n := min(len(a), len(b))
		if n < minPrint || n*10 < len(f)*8 {
			continue // too little in common
		}
		diff := 0
		for i := range n {
			diff += bits.OnesCount16(a[i] ^ b[i])
		}
		best = min(best, float64(diff)/float64(16*n))
	}
	return best
}

// printOf returns the fingerprint of sound that begins at its first sample.
func printOf(pcm []float32) Fingerprint {
	var f Fingerprint
	var last, now [printBands]float64
	var window, windowed [printSpan]float32
	var power [printSpan / 2]float32
	for i := range window { // Hann
		window[i] = float32(0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/printSpan))
	}
	spectrum := voice.NewSpectrum(printSpan)
	for at := 0; at+printSpan <= len(pcm) && len(f) < maxPrint; at += printHop {
		for i, v := range pcm[at : at+printSpan] {
			windowed[i] = v * window[i]
		}
		spectrum.Power(power[:], windowed[:])
		bandEnergy(power[:], &now)
		if at > 0 {
			var row uint16
			for b := range 16 {
				if (now[b]-now[b+1])-(last[b]-last[b+1]) > 0 {
					row |= 1 << b
				}
			}
			f = append(f, row)
		}
		last = now
	}
	return f
}

// bandEnergy writes the logarithm of the energy in each band. The bands have equal widths on a logarithmic scale.
func bandEnergy(power []float32, bands *[printBands]float64) {
	const low, high = 200.0, 3400.0
	*bands = [printBands]float64{}
	for k, p := range power {
		hz := float64(k) * pipeline.InputRate / printSpan
		if hz < low || hz >= high {
			continue
		}
		bands[int(printBands*math.Log(hz/low)/math.Log(high/low))] += float64(p)
	}
	for b := range bands {
		bands[b] = math.Log(bands[b] + 1e-9)
	}
}
