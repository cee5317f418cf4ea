package voiceprint

// The input of the network: energies in 40 bands of the mel scale, each 10 ms.

import (
	"math"
	"slices"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/engine/mel"
)

const (
	bands   = 40
	loud    = 0.0316 // RMS to which soft speech is amplified: -30 dBFS
	piece   = 480    // samples of the pieces of which silent ones are left out: 30 ms
	silence = 30     // dB below the loudest piece from which on a piece is silent
	keep    = 4      // silent pieces in a row that are kept: 120 ms
)

// filters are the weights of the bands, as in Resemblyzer's front end (librosa).
var filters = sync.OnceValue(func() *[bands][mel.Bins]float32 {
	var all [bands][mel.Bins]float32
	for b, band := range mel.Bands(bands) {
		for i, w := range band.Weights {
			all[b][band.First+i] = float32(w)
		}
	}
	return &all
})

// spectra returns the mel energies of pcm, one row for each mel.Hop.
func spectra(pcm []float32) [][bands]float32 {
	filter, spectrum := filters(), mel.NewSpectrum()
	padded := make([]float64, mel.Window/2+len(pcm)+mel.Window/2)
	for i, v := range pcm {
		padded[mel.Window/2+i] = float64(v)
	}
	var out [][bands]float32
	var power [mel.Bins]float64
	var narrow [mel.Bins]float32
	for at := 0; at+mel.Window <= len(padded); at += mel.Hop {
		spectrum.Power(&power, padded[at:])
		for k, p := range power {
			narrow[k] = float32(p)
		}
		var row [bands]float32
		for b := range row {
			row[b] = dot(filter[b][:], narrow[:])
		}
		out = append(out, row)
	}
	return out
}

// speech returns pcm without its long silences, and amplified if it is soft.
func speech(pcm []float32) []float32 {
	var levels []float64
	highest := 0.0
	for p := range slices.Chunk(pcm, piece) {
		var sum float64
		for _, v := range p {
			sum += float64(v) * float64(v)
		}
		levels = append(levels, sum/float64(len(p)))
		highest = max(highest, sum/float64(len(p)))
	}
	var out []float32
	silent, sum := 0, 0.0
	least := highest * math.Pow(10, -silence/10.0)
	for i, l := range levels {
		if silent++; l > least {
			silent = 0
		}
		if silent <= keep {
			p := pcm[i*piece : min(len(pcm), (i+1)*piece)]
			out = append(out, p...)
			sum += l * float64(len(p))
		}
	}
	if sum == 0 {
		return nil // digital silence
	}
	if gain := loud / math.Sqrt(sum/float64(len(out))); gain > 1 {
		for i := range out {
			out[i] *= float32(gain)
		}
	}
	return out
}
