package sphinx

// This file computes the features of speech: mel-frequency cepstra.

import (
	"math"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

// Parameters of the features with which the acoustic model en-us was trained (its feat.params).
const (
	rate       = 16000
	frameShift = 160 // samples: 10 ms
	frameSpan  = 410 // samples
	fftSize    = 512
	filters    = 25
	ceps       = 13
	lowerHz    = 130
	upperHz    = 6800
	lifter     = 22
	emphasis   = 0.97
)

// bandFloor is the power that is added to each band: the power of white noise with an amplitude of 3 steps of 16 bits, about
// -81 dBFS.
const bandFloor = 50

// cepstrum has the features of one frame.
type cepstrum [ceps]float32

// frontend turns samples into cepstra as pocketsphinx does, with two differences. It adds a constant power to each band, because
// digital silence (a muted track, an Opus stream in DTX) would otherwise have a level that does not occur in the training of the
// model. And it does not subtract the cepstral mean; the type mean does.
type frontend struct {
	floor   float64 // power added to each band
	last    float64 // the previous sample, for the pre-emphasis
	buf     []float64
	hamming [frameSpan]float64
	mel     [filters]filter
	cosine  [ceps][filters]float64
	lift    [ceps]float64

	spectrum *voice.Spectrum
	windowed [fftSize]float32     // one frame through the window; what follows it stays 0
	power    [fftSize / 2]float32 // the spectrum of windowed
}

// filter is a triangular weight over the bins of the spectrum.
type filter struct {
	first int
	gain  []float64
}

func newFrontend() *frontend {
	f := &frontend{floor: bandFloor, spectrum: voice.NewSpectrum(fftSize)}
	for i := range f.hamming {
		f.hamming[i] = 0.54 - 0.46*math.Cos(2*math.Pi*float64(i)/(frameSpan-1))
	}
	f.buildMel()
	for i := range ceps {
		scale := math.Sqrt(2.0 / filters)
		if i == 0 {
			scale = math.Sqrt(1.0 / filters)
		}
		for j := range filters {
			f.cosine[i][j] = scale * math.Cos(math.Pi/filters*float64(i)*(float64(j)+0.5))
		}
		f.lift[i] = 1 + lifter/2*math.Sin(math.Pi*float64(i)/lifter)
	}
	return f
}

func (f *frontend) buildMel() {
	mel := func(hz float64) float64 { return 2595 * math.Log10(1+hz/700) }
	hz := func(m float64) float64 { return 700 * (math.Pow(10, m/2595) - 1) }
	const bin = float64(rate) / fftSize
	low := mel(lowerHz)
	width := (mel(upperHz) - low) / (filters + 1)
	edge := func(i int) float64 { return math.Floor(hz(low+float64(i)*width)/bin+0.5) * bin }
	for i := range f.mel {
		a, b, c := edge(i), edge(i+1), edge(i+2)
		f.mel[i].first = int(math.Ceil(a / bin))
		for k := f.mel[i].first; float64(k)*bin <= c && k < fftSize/2; k++ {
			x := float64(k) * bin
			g := min((x-a)/(b-a), (c-x)/(c-b))
			f.mel[i].gain = append(f.mel[i].gain, g*2/(c-a))
		}
	}
}

// reset begins an utterance.
func (f *frontend) reset() {
	f.last = 0
	f.buf = f.buf[:0]
}

// write takes samples in [-1, 1] and appends the cepstra that are complete with them.
func (f *frontend) write(dst []cepstrum, pcm []float32) []cepstrum {
	for _, v := range pcm {
		x := float64(v) * 32768
		f.buf = append(f.buf, x-emphasis*f.last)
		f.last = x
	}
	n := 0
	for ; n+frameSpan <= len(f.buf); n += frameShift {
		dst = append(dst, f.frame(f.buf[n:n+frameSpan]))
	}
	f.buf = f.buf[:copy(f.buf, f.buf[n:])]
	return dst
}

// frame returns the cepstrum of one frame.
func (f *frontend) frame(x []float64) (c cepstrum) {
	for i, w := range f.hamming {
		f.windowed[i] = float32(x[i] * w)
	}
	f.spectrum.Power(f.power[:], f.windowed[:])
	var logs [filters]float64
	for i := range f.mel {
		sum := f.floor + 1e-4
		for k, g := range f.mel[i].gain {
			sum += float64(f.power[f.mel[i].first+k]) * g
		}
		logs[i] = math.Log(sum)
	}
	for i := range c {
		sum := 0.0
		for j, l := range logs {
			sum += l * f.cosine[i][j]
		}
		c[i] = float32(sum * f.lift[i])
	}
	return c
}
