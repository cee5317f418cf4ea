package smartturn

// The features that the model takes: the log-mel spectrogram of the last 8 s, as the feature extractor of Whisper computes it.

import (
	"math"

	"github.com/antiphon-rt/antiphon/internal/engine/mel"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	seconds = 8                            // of audio that the model hears
	samples = seconds * pipeline.InputRate // the same in samples
	frames  = samples / mel.Hop
	mels    = 80

	variance = 1e-7  // that is added, so that silence can be normalised
	quietest = 1e-10 // power below which a band counts as silent
	dynamics = 8     // powers of ten below the loudest band at which all others are cut
	shift    = 4     // the result is (x+shift)/shift
)

// extractor computes features. Only one goroutine may use it.
type extractor struct {
	spectrum *mel.Spectrum
	bands    []mel.Band
	wave     [mel.Window/2 + samples + mel.Window/2]float64 // the audio, mirrored at both ends
	power    [mel.Bins]float64
	features []float32 // mels rows of frames values
}

func newExtractor() *extractor {
	return &extractor{spectrum: mel.NewSpectrum(), bands: mel.Bands(mels), features: make([]float32, mels*frames)}
}

// extract returns the features of the last 8 s of mono audio at pipeline.InputRate: for each of 80 mel bands, from low to high, 800 values, one each
// 10 ms. Shorter audio has silence before it. The result is valid until the next call.
func (e *extractor) extract(pcm []float32) []float32 {
	e.normalise(pcm[max(0, len(pcm)-samples):])
	loudest := math.Inf(-1)
	for at := range frames {
		e.spectrum.Power(&e.power, e.wave[at*mel.Hop:])
		for m := range e.bands {
			b := &e.bands[m]
			var sum float64
			for j, w := range b.Weights {
				sum += w * e.power[b.First+j]
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
	middle := e.wave[mel.Window/2 : mel.Window/2+samples]
	for i := range padding {
		middle[i] = -mean * scale
	}
	for i, x := range pcm {
		middle[padding+i] = (float64(x) - mean) * scale
	}
	for i := range mel.Window / 2 {
		e.wave[i] = middle[mel.Window/2-i]
		e.wave[mel.Window/2+samples+i] = middle[samples-2-i]
	}
}
