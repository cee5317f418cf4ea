package sphinx

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// fourier transforms blocks of a power-of-two size.
type fourier struct {
	x    []complex128 // input, in order; the transform's work space
	y    []complex128
	turn []complex128
	p    []float64
}

func newFourier(n int) fourier {
	f := fourier{x: make([]complex128, n), y: make([]complex128, n), turn: make([]complex128, n/2), p: make([]float64, n/2+1)}
	for i := range f.turn {
		f.turn[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/float64(n))
	}
	return f
}

// power gives the squared magnitudes of the first half of the spectrum of x, until the next call.
func (f *fourier) power() []float64 {
	n := len(f.x)
	shift := 64 - bits.Len(uint(n-1))
	for i, v := range f.x {
		f.y[bits.Reverse64(uint64(i))>>shift] = v
	}
	for size := 2; size <= n; size *= 2 {
		for at := 0; at < n; at += size {
			for k := range size / 2 {
				a, b := f.y[at+k], f.y[at+k+size/2]*f.turn[k*n/size]
				f.y[at+k], f.y[at+k+size/2] = a+b, a-b
			}
		}
	}
	for i := range f.p {
		re, im := real(f.y[i]), imag(f.y[i])
		f.p[i] = re*re + im*im
	}
	return f.p
}
