package voice

import "math"

// This file has the one fast Fourier transform of the repository: power spectra of real signals.

const (
	windowSize = 512            // samples in the window of the detector's spectrum: 32 ms
	binCount   = windowSize / 2 // bins of that spectrum: 0 Hz to 7968.75 Hz, 31.25 Hz apart
)

// Spectrum computes power spectra of windows of one size. It owns its work space: only one goroutine may use a Spectrum at a time.
//
// A real transform of n samples is a complex transform of n/2 points (J. W. Cooley, P. A. W. Lewis and P. D. Welch, "The fast
// Fourier transform algorithm: programming considerations in the calculation of sine, cosine and Laplace transforms", 1970).
type Spectrum struct {
	re, im []float32 // the n/2 complex points
	*twiddles
}

// twiddles are the tables of a Spectrum. Nothing changes them.
type twiddles struct {
	cos, sin   []float32 // e^(-2 pi i k/(n/2))
	hcos, hsin []float32 // e^(-2 pi i k/n)
	order      []uint16  // order[k] is the index in re and im of frequency k
}

// NewSpectrum returns a Spectrum for windows of n samples. n is a power of two from 4 to 65536.
func NewSpectrum(n int) *Spectrum { return newSpectrum(newTwiddles(n)) }

// newSpectrum returns a Spectrum that uses the tables t.
func newSpectrum(t *twiddles) *Spectrum {
	half := len(t.order)
	points := make([]float32, 2*half)
	return &Spectrum{re: points[:half:half], im: points[half:], twiddles: t}
}

// newTwiddles computes the tables for windows of n samples.
func newTwiddles(n int) *twiddles {
	half := n / 2
	tables := make([]float32, 4*half)
	next := func() (t []float32) {
		t, tables = tables[:half:half], tables[half:]
		return t
	}
	s := &twiddles{cos: next(), sin: next(), hcos: next(), hsin: next(), order: make([]uint16, half)}
	for k := range half {
		a := 2 * math.Pi * float64(k) / float64(half)
		s.cos[k], s.sin[k] = float32(math.Cos(a)), float32(-math.Sin(a))
		a /= 2
		s.hcos[k], s.hsin[k] = float32(math.Cos(a)), float32(-math.Sin(a))
		s.order[k] = position(k, half)
	}
	return s
}

// position returns the index at which a transform of size points leaves frequency k: its digits in reverse order.
func position(k, size int) uint16 {
	at := 0
	for size > 1 {
		r := radix(size)
		size /= r
		at += k % r * size
		k /= r
	}
	return uint16(at)
}

// radix returns the radix of the pass over blocks of size points: 4, or once 2 where size is not a power of 4.
func radix(size int) int {
	const powersOf4 = 0x5555_5555
	if size&powersOf4 == 0 {
		return 2
	}
	return 4
}

// Power writes the squared magnitudes of the transform of x, which has n samples, to p, which has n/2 elements: frequency k of
// the sample rate divided by n. The Nyquist frequency is left out.
func (s *Spectrum) Power(p, x []float32) {
	re, im := s.re, s.im
	im = im[:len(re)]
	x = x[:2*len(re)]
	for n := range re {
		re[n], im[n] = x[2*n], x[2*n+1]
	}
	s.transform()
	p, order, hcos, hsin := p[:len(re)], s.order[:len(re)], s.hcos[:len(re)], s.hsin[:len(re)]
	p[0] = (re[0] + im[0]) * (re[0] + im[0])
	for k := 1; k < len(re); k++ {
		a, b := order[k], order[len(re)-k]
		// The transforms of the even and of the odd samples, separated by their symmetry.
		er, ei := re[a]+re[b], im[a]-im[b]
		or, oi := im[a]+im[b], re[b]-re[a]
		sr := er + or*hcos[k] - oi*hsin[k]
		si := ei + or*hsin[k] + oi*hcos[k]
		p[k] = (sr*sr + si*si) * 0.25
	}
}

// transform is the complex transform in place, decimation in frequency. Its result is in the order of s.order.
func (s *Spectrum) transform() {
	size := len(s.re)
	if radix(size) == 2 {
		s.halve()
		size /= 2
	}
	for ; size > 1; size /= 4 {
		for j := range size / 4 {
			s.butterflies(j, size)
		}
	}
}

// halve is the one pass of radix 2, over all points.
func (s *Spectrum) halve() {
	half := len(s.re) / 2
	for i := range half {
		ar, ai := s.re[i], s.im[i]
		br, bi := s.re[i+half], s.im[i+half]
		s.re[i], s.im[i] = ar+br, ai+bi
		xr, xi := ar-br, ai-bi
		s.re[i+half], s.im[i+half] = xr*s.cos[i]-xi*s.sin[i], xr*s.sin[i]+xi*s.cos[i]
	}
}

// butterflies does those radix-4 steps of the pass over blocks of size points that use the twiddle factors of point j.
func (s *Spectrum) butterflies(j, size int) {
	re := s.re
	im := s.im[:len(re)]
	mask, k, q := len(re)-1, j*(len(re)/size), size/4
	if mask < 0 {
		return // never: it tells the compiler that a masked index is in range
	}
	c1, s1 := s.cos[k], s.sin[k]
	c2, s2 := s.cos[2*k], s.sin[2*k]
	c3, s3 := s.cos[3*k], s.sin[3*k]
	for i := j; i < len(re); i += size {
		i0, i1, i2, i3 := i&mask, (i+q)&mask, (i+2*q)&mask, (i+3*q)&mask
		ar, ai := re[i0]+re[i2], im[i0]+im[i2]
		br, bi := re[i0]-re[i2], im[i0]-im[i2]
		cr, ci := re[i1]+re[i3], im[i1]+im[i3]
		dr, di := im[i1]-im[i3], re[i3]-re[i1] // times -i
		re[i0], im[i0] = ar+cr, ai+ci
		xr, xi := br+dr, bi+di
		re[i1], im[i1] = xr*c1-xi*s1, xr*s1+xi*c1
		xr, xi = ar-cr, ai-ci
		re[i2], im[i2] = xr*c2-xi*s2, xr*s2+xi*c2
		xr, xi = br-dr, bi-di
		re[i3], im[i3] = xr*c3-xi*s3, xr*s3+xi*c3
	}
}
