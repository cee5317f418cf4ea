// Package mel has the front end of the neural models that hear speech: the power of the sound in each 25 ms, and the bands of the mel scale.
package mel

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	Window = 400 // samples of a spectrum: 25 ms at pipeline.InputRate
	Hop    = 160 // samples from one spectrum to the next: 10 ms
	Bins   = Window/2 + 1
)

// Spectrum computes spectra. Only one goroutine may use it.
type Spectrum struct {
	fft  *fourier.FFT
	hann [Window]float64
	x    [Window]float64
	bins [Bins]complex128
}

// NewSpectrum returns a Spectrum.
func NewSpectrum() *Spectrum {
	s := &Spectrum{fft: fourier.NewFFT(Window)}
	for i := range s.hann {
		s.hann[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/Window)
	}
	return s
}

// Power writes the power of the first Window samples of wave in each bin to power.
func (s *Spectrum) Power(power *[Bins]float64, wave []float64) {
	for i, h := range s.hann {
		s.x[i] = wave[i] * h
	}
	for i, c := range s.fft.Coefficients(s.bins[:], s.x[:]) {
		power[i] = real(c)*real(c) + imag(c)*imag(c)
	}
}

// Band is the triangle of one mel band: the weights of some bins.
type Band struct {
	First   int
	Weights []float64
}

// Bands returns n bands, from low to high. The corners of the triangles are at equal distances on the mel scale, and each triangle has the area 1.
func Bands(n int) []Band {
	corners := make([]float64, n+2)
	for i := range corners {
		corners[i] = hertz(mel(pipeline.InputRate/2) * float64(i) / float64(n+1))
	}
	bands := make([]Band, n)
	for i := range bands {
		left, centre, right := corners[i], corners[i+1], corners[i+2]
		b := &bands[i]
		for bin := range Bins {
			at := float64(bin) * pipeline.InputRate / Window
			weight := min((at-left)/(centre-left), (right-at)/(right-centre))
			if weight <= 0 {
				continue
			}
			if b.Weights == nil {
				b.First = bin
			}
			b.Weights = append(b.Weights, weight*2/(right-left))
		}
	}
	return bands
}

// The mel scale of Slaney's Auditory Toolbox (1998): linear up to 1 kHz, logarithmic above.
const (
	linear  = 200.0 / 3
	bend    = 1000.0 // Hz
	bendAt  = 15.0   // the same in mels
	octaves = 27.0   // mels of a factor of 6.4
)

// mel returns a frequency in Hz on the mel scale.
func mel(hz float64) float64 {
	if hz < bend {
		return hz / linear
	}
	return bendAt + math.Log(hz/bend)*octaves/math.Log(6.4)
}

// hertz returns the frequency of a value of the mel scale, in Hz.
func hertz(m float64) float64 {
	if m < bendAt {
		return m * linear
	}
	return bend * math.Exp((m-bendAt)*math.Log(6.4)/octaves)
}
