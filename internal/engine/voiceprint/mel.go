package voiceprint

// The input of the network: energies in 40 bands of the mel scale, each 10 ms.

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	bands   = 40
	window  = 400 // samples of a spectrum: 25 ms
	hop     = 160 // samples between two spectra: 10 ms
	lines   = window/2 + 1
	loud    = 0.0316 // RMS to which soft speech is amplified: -30 dBFS
	piece   = 480    // samples of the pieces of which silent ones are left out: 30 ms
	silence = 30     // dB below the loudest piece from which on a piece is silent
	keep    = 4      // silent pieces in a row that are kept: 120 ms
)

// tables are constants of the transform.
type tables struct {
	shape  [window]float64
	filter [bands][lines]float32
}

// transform returns the tables. The filters are triangles of equal area on Slaney's mel scale, as in Resemblyzer's front end (librosa).
var transform = sync.OnceValue(func() *tables {
	t := &tables{}
	for i := range window {
		t.shape[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/window)
	}
	var edge [bands + 2]float64
	for i := range edge {
		edge[i] = hertz(mel(pipeline.InputRate/2) * float64(i) / (bands + 1))
	}
	for b := range bands {
		low, mid, high := edge[b], edge[b+1], edge[b+2]
		for k := range lines {
			f := float64(k) * pipeline.InputRate / window
			w := min((f-low)/(mid-low), (high-f)/(high-mid))
			t.filter[b][k] = float32(max(0, w) * 2 / (high - low))
		}
	}
	return t
})

// The mel scale of Slaney's Auditory Toolbox (1998): linear up to 1 kHz, logarithmic above.
const (
	linear = 200.0 / 3
	bend   = 1000.0
)

var octaves = math.Log(6.4) / 27

// mel returns a frequency in Hz on the mel scale.
func mel(hz float64) float64 {
	if hz < bend {
		return hz / linear
	}
	return bend/linear + math.Log(hz/bend)/octaves
}

// hertz returns the frequency of a value of the mel scale, in Hz.
func hertz(m float64) float64 {
	if m < bend/linear {
		return m * linear
	}
	return bend * math.Exp(octaves*(m-bend/linear))
}

// spectra returns the mel energies of pcm, one row for each hop.
func spectra(pcm []float32) [][bands]float32 {
	t, fft := transform(), fourier.NewFFT(window)
	padded := slices.Concat(make([]float32, window/2), pcm, make([]float32, window/2))
	var out [][bands]float32
	var x [window]float64
	var spectrum [lines]complex128
	var power [lines]float32
	for at := 0; at+window <= len(padded); at += hop {
		for i := range x {
			x[i] = float64(padded[at+i]) * t.shape[i]
		}
		for k, c := range fft.Coefficients(spectrum[:], x[:]) {
			power[k] = float32(real(c)*real(c) + imag(c)*imag(c))
		}
		var row [bands]float32
		for b := range row {
			row[b] = dot(t.filter[b][:], power[:])
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
