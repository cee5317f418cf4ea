package smartturn

// The Fourier transform of one window.

import "math"

// fourier is the discrete Fourier transform of a fixed length, by the algorithm of Cooley and Tukey. Only one goroutine may use it.
type fourier struct {
	length  int
	radices []int // their product is length
	roots   []complex128
	scratch []complex128
}

// newFourier returns the transform of the product of the radices.
func newFourier(radices ...int) *fourier {
	f := &fourier{length: 1, radices: radices}
	largest := 0
	for _, r := range radices {
		f.length *= r
		largest = max(largest, r)
	}
	f.roots = make([]complex128, f.length)
	for i := range f.roots {
		sin, cos := math.Sincos(-2 * math.Pi * float64(i) / float64(f.length))
		f.roots[i] = complex(cos, sin)
	}
	f.scratch = make([]complex128, largest)
	return f
}

// transform writes the transform of in to out. Both have the length of f.
func (f *fourier) transform(out, in []complex128) { f.step(out, in, 1, f.radices) }

// step transforms every stride-th value of in, as many as out has.
func (f *fourier) step(out, in []complex128, stride int, radices []int) {
	if len(radices) == 0 {
		out[0] = in[0]
		return
	}
	radix := radices[0]
	part := len(out) / radix
	for i := range radix {
		f.step(out[i*part:(i+1)*part], in[i*stride:], stride*radix, radices[1:])
	}
	for k := range part {
		values := f.scratch[:radix]
		for i := range values {
			values[i] = out[i*part+k] * f.roots[i*k*stride]
		}
		for j := range radix {
			var sum complex128
			for i, v := range values {
				sum += v * f.roots[i*j*part*stride%f.length]
			}
			out[j*part+k] = sum
		}
	}
}
