package voice

import "math"

const (
	windowSize = 512            // samples that one spectrum sees: 32 ms
	binCount   = windowSize / 2 // bins from 0 Hz on, 31.25 Hz apart; the one at the Nyquist frequency is not needed
	fftSize    = windowSize / 2 // a real transform of 512 is a complex one of half the size: J. W. Cooley et al., 1970
)

// spectrum computes power spectra of real windows. Tables and work space are its own, so one goroutine at a time.
type spectrum struct {
	re, im     [fftSize]float32
	cos, sin   [fftSize]float32  // e^(-2 pi i k/256)
	hcos, hsin [binCount]float32 // e^(-2 pi i k/512)
	order      [fftSize]uint8    // base-4 digits reversed
}

func (s *spectrum) init() {
	for k := range fftSize {
		a := 2 * math.Pi * float64(k) / fftSize
		s.cos[k], s.sin[k] = float32(math.Cos(a)), float32(-math.Sin(a))
		a = 2 * math.Pi * float64(k) / windowSize
		s.hcos[k], s.hsin[k] = float32(math.Cos(a)), float32(-math.Sin(a))
		s.order[k] = uint8(k&3<<6 | k>>2&3<<4 | k>>4&3<<2 | k>>6)
	}
}

// power writes the squared magnitudes of the transform of x to p.
func (s *spectrum) power(p *[binCount]float32, x *[windowSize]float32) {
	for n := range fftSize {
		s.re[n], s.im[n] = x[2*n], x[2*n+1]
	}
	s.transform()
	p[0] = (s.re[0] + s.im[0]) * (s.re[0] + s.im[0])
	for k := 1; k < binCount; k++ {
		a, b := s.order[k], s.order[fftSize-k]
		// The even samples' transform and the odd ones', taken apart by their symmetry.
		er, ei := s.re[a]+s.re[b], s.im[a]-s.im[b]
		or, oi := s.im[a]+s.im[b], s.re[b]-s.re[a]
		re := er + or*s.hcos[k] - oi*s.hsin[k]
		im := ei + or*s.hsin[k] + oi*s.hcos[k]
		p[k] = (re*re + im*im) * 0.25
	}
}

// transform is a complex fast Fourier transform of 256 points in place: four passes of radix 4, decimation in frequency.
// The result is in digit-reversed order.
func (s *spectrum) transform() {
	for size := fftSize; size > 1; size /= 4 {
		for j := range size / 4 {
			s.butterflies(j, size)
		}
	}
}

// butterflies does those radix-4 steps of the pass for blocks of the given size that have the twiddle factors of point j.
// The masks change nothing: they tell the compiler that the indices are in range.
func (s *spectrum) butterflies(j, size int) {
	const mask = fftSize - 1
	k, q := j*(fftSize/size), size/4
	c1, s1 := s.cos[k&mask], s.sin[k&mask]
	c2, s2 := s.cos[2*k&mask], s.sin[2*k&mask]
	c3, s3 := s.cos[3*k&mask], s.sin[3*k&mask]
	re, im := &s.re, &s.im
	for i := j; i < fftSize; i += size {
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
