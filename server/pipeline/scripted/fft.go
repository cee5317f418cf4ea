package scripted

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// fft measures power spectra of a fixed power-of-two size, through a Hann window.
type fft struct {
	window []float64
	turn   []complex128
	x      []complex128
	p      []float64
}

func newFFT(n int) *fft {
	f := &fft{window: make([]float64, n), turn: make([]complex128, n/2), x: make([]complex128, n), p: make([]float64, n/2)}
	for i := range n {
		f.window[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(n))
	}
	for i := range n / 2 {
		f.turn[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/float64(n))
	}
	return f
}

// power gives the first half of the spectrum; it is valid until the next call.
func (f *fft) power(pcm []float32) []float64 {
	n := len(f.x)
	shift := 64 - bits.Len(uint(n-1))
	for i := range n {
		f.x[bits.Reverse64(uint64(i))>>shift] = complex(float64(pcm[i])*f.window[i], 0)
	}
	for size := 2; size <= n; size *= 2 {
		for at := 0; at < n; at += size {
			for k := range size / 2 {
				a, b := f.x[at+k], f.x[at+k+size/2]*f.turn[k*n/size]
				f.x[at+k], f.x[at+k+size/2] = a+b, a-b
			}
		}
	}
	for i := range f.p {
		re, im := real(f.x[i]), imag(f.x[i])
		f.p[i] = re*re + im*im
	}
	return f.p
}
