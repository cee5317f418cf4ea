package voice

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/onsi/gomega"
)

var rates = []int{8000, 16000, 22050, 24000, 44100, 48000}

// eachPair runs f for every pair of different rates.
func eachPair(t *testing.T, f func(g *gomega.WithT, from, to int)) {
	for _, from := range rates {
		for _, to := range rates {
			if from != to {
				t.Run(fmt.Sprintf("%d->%d", from, to), func(t *testing.T) { f(gomega.NewWithT(t), from, to) })
			}
		}
	}
}

func sineAt(frequency float64, rate, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(0.5 * math.Sin(2*math.Pi*frequency*float64(i)/float64(rate)))
	}
	return x
}

// steadyLevel is the level of x in dBFS without its ends, where a filter starts and stops.
func steadyLevel(x []float32) float64 {
	return float64(DBFS(RMS(x[len(x)/5 : len(x)*4/5])))
}

func resample(t *testing.T, from, to int, x []float32) []float32 {
	r := mustResampler(t, from, to)
	return r.Flush(r.Append(nil, x))
}

func TestResamplerKeepsThePassBand(t *testing.T) {
	eachPair(t, func(g *gomega.WithT, from, to int) {
		edge := ResamplerPassBand * float64(min(from, to)) / 2
		for _, share := range []float64{0.01, 0.1, 0.37, 0.71, 0.99} {
			x := sineAt(share*edge, from, from/4)
			y := resample(t, from, to, x)
			g.Expect(steadyLevel(y)).To(gomega.BeNumerically("~", steadyLevel(x), 0.1), "%.0f Hz", share*edge)
		}
	})
}

// A tone above the lower rate's Nyquist frequency must vanish; whatever comes out of it is an alias.
func TestResamplerStopsAliases(t *testing.T) {
	eachPair(t, func(g *gomega.WithT, from, to int) {
		if from < to {
			return
		}
		for _, f := range []float64{1.001, 1.1, 1.37, 1.9} {
			frequency := f * float64(to) / 2
			if frequency > 0.99*float64(from)/2 {
				continue
			}
			x := sineAt(frequency, from, from/4)
			y := resample(t, from, to, x)
			g.Expect(steadyLevel(y)).To(gomega.BeNumerically("<=", steadyLevel(x)-ResamplerStopBand), "%.0f Hz", frequency)
		}
	})
}

// Going up, what is left after the tone is taken out is its images (and rounding).
func TestResamplerStopsImages(t *testing.T) {
	eachPair(t, func(g *gomega.WithT, from, to int) {
		if from > to {
			return
		}
		for _, f := range []float64{0.05, 0.4, 0.99} {
			frequency := f * ResamplerPassBand * float64(from) / 2
			x := sineAt(frequency, from, from/4)
			y := resample(t, from, to, x)
			rest := withoutTone(y[len(y)/5:len(y)*4/5], frequency, to)
			g.Expect(float64(DBFS(RMS(rest)))).To(gomega.BeNumerically("<=", steadyLevel(x)-ResamplerStopBand), "%.0f Hz", frequency)
		}
	})
}

// withoutTone subtracts the tone of that frequency that fits x best.
func withoutTone(x []float32, frequency float64, rate int) []float32 {
	var ss, cc, sc, xs, xc float64
	angle := func(i int) float64 { return 2 * math.Pi * frequency * float64(i) / float64(rate) }
	for i, v := range x {
		s, c := math.Sincos(angle(i))
		ss, cc, sc = ss+s*s, cc+c*c, sc+s*c
		xs, xc = xs+float64(v)*s, xc+float64(v)*c
	}
	d := ss*cc - sc*sc
	a, b := (xs*cc-xc*sc)/d, (xc*ss-xs*sc)/d
	rest := make([]float32, len(x))
	for i, v := range x {
		s, c := math.Sincos(angle(i))
		rest[i] = float32(float64(v) - a*s - b*c)
	}
	return rest
}

func TestResamplerPassesAConstantUnchanged(t *testing.T) {
	eachPair(t, func(g *gomega.WithT, from, to int) {
		x := make([]float32, from/10)
		for i := range x {
			x[i] = 0.25
		}
		y := resample(t, from, to, x)
		for _, v := range y[len(y)/5 : len(y)*4/5] {
			g.Expect(v).To(gomega.BeNumerically("~", 0.25, 1e-6))
		}
	})
}

func TestResamplerCutsTheStreamAnywhere(t *testing.T) {
	eachPair(t, func(g *gomega.WithT, from, to int) {
		n := newNoise(uint64(from + to))
		x := make([]float32, 3000)
		for i := range x {
			x[i] = 0.2 * n.white()
		}
		pcm := FloatToPCM16(nil, x)
		whole := resample(t, from, to, x)
		r := mustResampler(t, from, to)
		wholePCM := r.FlushPCM16(r.AppendPCM16(nil, pcm))
		for range 4 {
			var y []float32
			var z []int16
			cut := mustResampler(t, from, to)
			cutPCM := mustResampler(t, from, to)
			for at := 0; at < len(x); {
				end := min(at+int(n.between(0, 900)), len(x))
				y = cut.Append(y, x[at:end])
				z = cutPCM.AppendPCM16(z, pcm[at:end])
				at = end
			}
			g.Expect(cut.Flush(y)).To(gomega.Equal(whole))
			g.Expect(cutPCM.FlushPCM16(z)).To(gomega.Equal(wholePCM))
		}
	})
}

func TestResamplerGivesEverySampleItsPlace(t *testing.T) {
	eachPair(t, func(g *gomega.WithT, from, to int) {
		const at = 700
		x := make([]float32, 1501)
		x[at] = 1
		y := resample(t, from, to, x)
		g.Expect(y).To(gomega.HaveLen((len(x)*to + from - 1) / from))
		g.Expect(centre(y)).To(gomega.BeNumerically("~", float64(at)*float64(to)/float64(from), 0.01), "no offset")
	})
}

// centre is the centre of gravity of the energy of x.
func centre(x []float32) float64 {
	var moment, sum float64
	for i, v := range x {
		moment += float64(i) * float64(v) * float64(v)
		sum += float64(v) * float64(v)
	}
	return moment / sum
}

func TestResamplerLatencyIsAsStated(t *testing.T) {
	eachPair(t, func(g *gomega.WithT, from, to int) {
		r := mustResampler(t, from, to)
		var in int
		var out []float32
		for ; len(out) < 100; in++ {
			out = r.Append(out, []float32{0})
		}
		// The sample that has just come out stands for this moment, in input samples.
		moment := 99 * from / to
		g.Expect(Samples(in - 1 - moment)).To(gomega.BeNumerically("~", r.Latency(), 1))
		g.Expect(float64(r.Latency())/float64(from)).To(gomega.BeNumerically("<=", 0.0088), "seconds")
	})
}

func TestResamplerStartsAfreshAfterFlushAndReset(t *testing.T) {
	g := gomega.NewWithT(t)
	x := whiteNoise(4, 0.1, 0.2)
	r := mustResampler(t, 24000, 16000)
	first := r.Flush(r.Append(nil, x))
	g.Expect(r.Flush(r.Append(nil, x))).To(gomega.Equal(first))
	r.Append(nil, x[:777])
	r.Reset()
	g.Expect(r.Flush(r.Append(nil, x))).To(gomega.Equal(first))
	g.Expect(r.Flush(nil)).To(gomega.BeEmpty())
}

func TestResamplerOfEqualRatesCopies(t *testing.T) {
	g := gomega.NewWithT(t)
	x := whiteNoise(4, 0.1, 0.2)
	r := mustResampler(t, 16000, 16000)
	g.Expect(r.Latency()).To(gomega.BeZero())
	g.Expect(r.Flush(r.Append(nil, x))).To(gomega.Equal(x))
	pcm := FloatToPCM16(nil, x)
	g.Expect(r.FlushPCM16(r.AppendPCM16(nil, pcm))).To(gomega.Equal(pcm))
}

func TestResamplerClipsPCM16(t *testing.T) {
	g := gomega.NewWithT(t)
	pcm := make([]int16, 400)
	for i := range pcm {
		pcm[i] = math.MaxInt16
		if i/20%2 == 1 {
			pcm[i] = math.MinInt16
		}
	}
	r := mustResampler(t, 16000, 48000)
	y := r.FlushPCM16(r.AppendPCM16(nil, pcm))
	g.Expect(y).To(gomega.ContainElements(int16(math.MaxInt16), int16(math.MinInt16)), "the overshoot is clipped")
	for i := 300; i < 900; i++ {
		g.Expect(math.Abs(float64(y[i])-float64(y[i-1]))).To(gomega.BeNumerically("<", 40000), "and does not wrap")
	}
}

func TestResamplerRefusesOtherRates(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, pair := range [][2]int{{0, 16000}, {16000, -1}, {11025, 16000}, {16000, 96000}} {
		_, err := NewResampler(pair[0], pair[1])
		var rate *RateError
		g.Expect(errors.As(err, &rate)).To(gomega.BeTrue())
		g.Expect(*rate).To(gomega.Equal(RateError{From: pair[0], To: pair[1]}))
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("must be 8000, 16000, 22050, 24000, 44100 or 48000")))
	}
}

func TestResamplerDoesNotAllocate(t *testing.T) {
	g := gomega.NewWithT(t)
	r := mustResampler(t, 44100, 16000)
	src, dst := make([]float32, 4410), make([]float32, 0, 2000)
	pcm, out := make([]int16, 4410), make([]int16, 0, 2000)
	g.Expect(testing.AllocsPerRun(20, func() {
		dst = r.Append(dst[:0], src)
		out = r.AppendPCM16(out[:0], pcm)
	})).To(gomega.BeZero())
}
