package human

// This file decodes G.722 at 64 kbit/s, as Recommendation ITU-T G.722 (09/2012) describes it in section 6. The names of the blocks are those of
// the recommendation. Two samples at 16 kHz come from each byte: 6 bits for the lower band, 2 bits for the higher one.

// Tables of the recommendation: quantizers, logarithmic scale factors, and the filter that joins the bands.
var (
	wl   = [8]int{-60, -30, 58, 172, 334, 538, 1198, 3042}
	rl42 = [16]int{0, 7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1, 0}
	ilb  = [32]int{
		2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834,
		2896, 2960, 3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
	}
	wh  = [3]int{0, -214, 798}
	rh2 = [4]int{2, 1, 2, 1}
	qm2 = [4]int{-7408, -1616, 7408, 1616}
	qm4 = [16]int{0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0}
	qm6 = [64]int{
		-136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576, -7856,
		-7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040, -728,
		24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456,
		4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136,
	}
	qmf = [12]int{3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11}
)

func saturate(v int) int { return min(max(v, -32768), 32767) }

// band is the adaptive predictor of one band.
type band struct {
	s, sp, sz int    // predicted signal, and its parts by poles and zeros
	r, a, p   [3]int // reconstructed signal, coefficients of the poles, partly reconstructed signal
	d, b      [7]int // quantized differences, coefficients of the zeros
	nb, det   int    // logarithmic scale factor, scale factor
}

// scale computes the scale factor from nb (blocks SCALEL and SCALEH).
func (b *band) scale(shift int) {
	v := ilb[b.nb>>6&31]
	if by := shift - b.nb>>11; by < 0 {
		v <<= -by
	} else {
		v >>= by
	}
	b.det = v << 2
}

// adapt takes the next quantized difference and predicts the next sample (block 4).
func (b *band) adapt(difference int) {
	b.d[0] = difference
	b.r[0] = saturate(b.s + difference)
	b.p[0] = saturate(b.sz + difference)
	poles := b.poles()
	zeros := b.zeros()
	for i := 6; i > 0; i-- {
		b.d[i], b.b[i] = b.d[i-1], zeros[i]
	}
	for i := 2; i > 0; i-- {
		b.r[i], b.p[i], b.a[i] = b.r[i-1], b.p[i-1], poles[i]
	}
	b.sp = saturate(b.a[1]*saturate(2*b.r[1])>>15 + b.a[2]*saturate(2*b.r[2])>>15)
	b.sz = 0
	for i := 6; i > 0; i-- {
		b.sz += b.b[i] * saturate(2*b.d[i]) >> 15
	}
	b.sz = saturate(b.sz)
	b.s = saturate(b.sp + b.sz)
}

// poles returns the new coefficients of the poles (blocks UPPOL1 and UPPOL2).
func (b *band) poles() (next [3]int) {
	same := func(i int) bool { return b.p[0]>>15 == b.p[i]>>15 }
	v := saturate(4 * b.a[1])
	if same(1) {
		v = min(-v, 32767)
	}
	v >>= 7
	if same(2) {
		v += 128
	} else {
		v -= 128
	}
	next[2] = min(max(v+b.a[2]*32512>>15, -12288), 12288)
	v = -192
	if same(1) {
		v = 192
	}
	limit := saturate(15360 - next[2])
	next[1] = min(max(saturate(v+b.a[1]*32640>>15), -limit), limit)
	return next
}

// zeros returns the new coefficients of the zeros (block UPZERO).
func (b *band) zeros() (next [7]int) {
	step := 128
	if b.d[0] == 0 {
		step = 0
	}
	for i := 1; i < 7; i++ {
		v := -step
		if b.d[i]>>15 == b.d[0]>>15 {
			v = step
		}
		next[i] = saturate(v + b.b[i]*32640>>15)
	}
	return next
}

// decode returns the samples of G.722 at 64 kbit/s, at 16 kHz.
func decode(code []byte) []int16 {
	low, high := band{det: 32}, band{det: 8}
	var x [24]int
	pcm := make([]int16, 0, 2*len(code))
	for _, c := range code {
		six, two := int(c&63), int(c>>6)
		four := six >> 2
		rlow := min(max(low.s+low.det*qm6[six]>>15, -16384), 16383)
		difference := low.det * qm4[four] >> 15
		low.nb = min(max(low.nb*127>>7+wl[rl42[four]], 0), 18432)
		low.scale(8)
		low.adapt(difference)

		difference = high.det * qm2[two] >> 15
		rhigh := min(max(high.s+difference, -16384), 16383)
		high.nb = min(max(high.nb*127>>7+wh[rh2[two]], 0), 22528)
		high.scale(10)
		high.adapt(difference)

		copy(x[:], x[2:])
		x[22], x[23] = rlow+rhigh, rlow-rhigh
		even, odd := 0, 0
		for i := range qmf {
			odd += x[2*i] * qmf[i]
			even += x[2*i+1] * qmf[11-i]
		}
		pcm = append(pcm, int16(saturate(even>>11)), int16(saturate(odd>>11)))
	}
	return pcm
}
