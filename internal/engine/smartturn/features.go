package smartturn

// The features that the model takes: the log-mel spectrogram of the last 8 s, as the feature extractor of Whisper computes it.

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	seconds = 8                            // of audio that the model hears
	samples = seconds * pipeline.InputRate // the same in samples
	window  = 400                          // samples of a window: 25 ms
	hop     = 160                          // samples from one window to the next: 10 ms
	frames  = samples / hop
	mels    = 80
	bins    = window/2 + 1

	variance   = 1e-7  // that is added, so that silence can be normalised
	quietest   = 1e-10 // power below which a band counts as silent
	dynamics   = 8     // powers of ten below the loudest band at which all others are cut
	shift      = 4     // the result is (x+shift)/shift
	melLinear  = 200.0 / 3
	melBend    = 1000.0 // Hz from which on the scale is logarithmic
	melBendAt  = 15.0   // the same in mels
	melOctaves = 27.0   // mels of a factor of 6.4
)

// extractor computes features. Only one goroutine may use it.
type extractor struct {
	fft      *fourier.FFT
	hann     [window]float64
	bands    [mels]band
	wave     [window/2 + samples + window/2]float64 // the audio, mirrored at both ends
	windowed [window]float64
	spectrum [bins]complex128
	power    [bins]float64
	features []float32 // mels rows of frames values
}

// band is the triangle of one mel band: the weights of some bins.
type band struct {
	first   int
	weights []float64
}

func newExtractor() *extractor {
	e := &extractor{fft: fourier.NewFFT(window), features: make([]float32, mels*frames)}
	for i := range e.hann {
		e.hann[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/window)
	}
	// The corners of the triangles are at equal distances on the mel scale of Slaney's Auditory Toolbox (1998), and each triangle has the area 1.
	var corners [mels + 2]float64
	for i := range corners {
		corners[i] = hertz(mel(pipeline.InputRate/2) * float64(i) / (mels + 1))
	}
	for i := range e.bands {
		left, centre, right := corners[i], corners[i+1], corners[i+2]
		b := &e.bands[i]
		for bin := range bins {
			at := float64(bin) * pipeline.InputRate / window
			weight := min((at-left)/(centre-left), (right-at)/(right-centre))
			if weight <= 0 {
				continue
			}
			if b.weights == nil {
				b.first = bin
			}
			b.weights = append(b.weights, weight*2/(right-left))
		}
	}
	return e
}

// mel returns a frequency in Hz on the mel scale.
func mel(f float64) float64 {
	if f < melBend {
		return f / melLinear
	}
	return melBendAt + math.Log(f/melBend)*melOctaves/math.Log(6.4)
}

// hertz returns the frequency of a value of the mel scale, in Hz.
func hertz(m float64) float64 {
	if m < melBendAt {
		return m * melLinear
	}
	return melBend * math.Exp((m-melBendAt)*math.Log(6.4)/melOctaves)
}

// extract returns the features of the last 8 s of mono audio at pipeline.InputRate: for each of 80 mel bands, from low to high, 800 values, one each
// 10 ms. Shorter audio has silence before it. The result is valid until the next call.
func (e *extractor) extract(pcm []float32) []float32 {
	e.normalise(pcm[max(0, len(pcm)-samples):])
	loudest := math.Inf(-1)
	for at := range frames {
		e.measure(at)
		for m := range e.bands {
			b := &e.bands[m]
			var sum float64
			for j, w := range b.weights {
				sum += w * e.power[b.first+j]
			}
			level := math.Log10(max(sum, quietest))
			loudest = max(loudest, level)
			e.features[m*frames+at] = float32(level)
		}
	}
	for i, level := range e.features {
		e.features[i] = float32((max(float64(level), loudest-dynamics) + shift) / shift)
	}
	return e.features
}

// normalise writes the audio to e.wave, with the mean 0 and the variance 1, silence before it, and both ends mirrored.
func (e *extractor) normalise(pcm []float32) {
	var sum, squares float64
	for _, x := range pcm {
		sum += float64(x)
	}
	mean := sum / samples
	for _, x := range pcm {
		squares += (float64(x) - mean) * (float64(x) - mean)
	}
	padding := samples - len(pcm)
	squares += float64(padding) * mean * mean
	scale := 1 / math.Sqrt(squares/samples+variance)
	middle := e.wave[window/2 : window/2+samples]
	for i := range padding {
		middle[i] = -mean * scale
	}
	for i, x := range pcm {
		middle[padding+i] = (float64(x) - mean) * scale
	}
	for i := range window / 2 {
		e.wave[i] = middle[window/2-i]
		e.wave[window/2+samples+i] = middle[samples-2-i]
	}
}

// measure writes the power spectrum of the window with number at to e.power.
func (e *extractor) measure(at int) {
	wave := e.wave[at*hop:]
	for i, h := range e.hann {
		e.windowed[i] = wave[i] * h
	}
	for i, c := range e.fft.Coefficients(e.spectrum[:], e.windowed[:]) {
		e.power[i] = real(c)*real(c) + imag(c)*imag(c)
	}
}
