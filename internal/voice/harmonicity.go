package voice

import "math"

// This file measures how periodic a sound is.

// Voiced speech is periodic. The autocorrelation, which is the cosine transform of the power spectrum, has a peak at the period. This file
// transforms magnitudes instead of powers, so that a strong first formant does not hide the other harmonics (the generalised autocorrelation
// of Tolonen and Karjalainen, 2000). It subtracts the noise floor first, which removes hum and rumble. It divides by the autocorrelation of
// the window, so that long periods count as much as short ones (Boersma, 1993).
const (
	lagRate = 4000 // hertz; the bins under 2 kHz are a spectrum at this rate
	minLag  = 10   // samples at lagRate: 400 Hz
	maxLag  = 57   // 70 Hz
	// lagCount is the number of lags from minLag-1 to maxLag+1, because a peak needs its neighbours.
	lagCount = maxLag - minLag + 3
	// leastWindow limits the division by the window's autocorrelation, which would amplify noise at long lags.
	leastWindow = 0.35
	// overNoise is the multiple of the magnitude of the noise floor that is subtracted.
	overNoise = 1.5
	// emphasisBins: magnitudes are weighted in proportion to the frequency up to this bin (375 Hz), as a pre-emphasis that
	// turns the slope of a rumble into a flat spectrum, which has no peak.
	emphasisBins = 12
	// upperBin is the first bin of the feature upper: 500 Hz.
	upperBin = 16
	// memory is the weight of the sums of the last frame: speech has the same period in the next frame, noise does not. The sums are not
	// normalised, so silence before an onset has no weight.
	memory = 0.5

	changeFrames = 5 // frames over which the spectrum is compared; the other distance is changeShort
	changeShort  = 2
)

type lags [lagCount]float32

// lagCosines has cos(2 pi k lag / 128), divided by the window's autocorrelation at that lag, for each lag and bin k.
type lagCosines [lagCount][lowBins]float32

// harmonicity measures how periodic the sound above the noise is.
type harmonicity struct {
	cosine *lagCosines

	clean      [lowBins]float32 // weighted magnitudes above the noise
	sums       lags             // cosine sums over all bins
	upperSums  lags             // cosine sums over the upper bins
	total      float32          // the sums are relative to it
	upperTotal float32

	magnitude [changeFrames][lowBins]float32
	at        int // index of the oldest magnitudes
}

// fill computes the table for a window.
func (c *lagCosines) fill(window *[windowSize]float32) {
	const step = FrameRate / lagRate
	var energy float64
	for _, w := range window {
		energy += float64(w) * float64(w)
	}
	for i := range c {
		lag := minLag - 1 + i
		var overlap float64
		for n := lag * step; n < windowSize; n++ {
			overlap += float64(window[n]) * float64(window[n-lag*step])
		}
		scale := 1 / math.Max(overlap/energy, leastWindow)
		for k := firstBin; k < lowBins; k++ {
			c[i][k] = float32(scale * math.Cos(2*math.Pi*float64(k*lag)/(2*lowBins)))
		}
	}
}

func (h *harmonicity) reset() {
	clear(h.sums[:])
	clear(h.upperSums[:])
	for i := range h.magnitude {
		clear(h.magnitude[i][:])
	}
	h.total, h.upperTotal, h.at = 0, 0, 0
}

// measure computes the features that need single bins.
func (h *harmonicity) measure(power *[binCount]float32, noise *channelPowers, f *features) {
	f.change = h.measureChange(power)
	total, upperTotal := h.subtract(power, noise)
	crest := h.crest()
	f.crest = crest / total
	h.total = total + memory*h.total
	h.upperTotal = upperTotal + memory*h.upperTotal
	for i := range h.sums {
		var lower, upper float32
		if crest > 0 { // else the products are 0, as in silence
			lower, upper = dot(h.clean[:upperBin], h.cosine[i][:upperBin]), dot(h.clean[upperBin:], h.cosine[i][upperBin:])
		}
		h.sums[i] = lower + upper + memory*h.sums[i]
		h.upperSums[i] = upper + memory*h.upperSums[i]
	}
	f.periodicity, f.upper = 0, 0
	peak := float32(0)
	for i := 1; i+1 < lagCount; i++ {
		if s := h.sums[i]; s > peak && s >= h.sums[i-1] && s >= h.sums[i+1] {
			peak = s
			f.periodicity, f.upper = s/h.total, h.upperSums[i]/h.upperTotal
		}
	}
}

// subtract computes the magnitudes above the noise, and returns their sums with the noise. The sums contain the noise, so that the small part
// of a noise that is above its floor does not look like a clean tone.
func (h *harmonicity) subtract(power *[binCount]float32, noise *channelPowers) (total, upper float32) {
	for k := firstBin; k < lowBins; k++ {
		n := squareRoot(noise[k])
		clean := max(squareRoot(power[k])-overNoise*n, 0)
		if k < emphasisBins {
			weight := float32(k) / emphasisBins
			clean *= weight
			n *= weight
		}
		h.clean[k] = clean
		total += clean + n
		if k >= upperBin {
			upper += clean + n
		}
	}
	return total, upper
}

// crest returns the largest sum of three neighbouring magnitudes.
func (h *harmonicity) crest() float32 {
	var most float32
	for k := firstBin + 1; k < lowBins-1; k++ {
		most = max(most, h.clean[k-1]+h.clean[k]+h.clean[k+1])
	}
	return most
}

// measureChange compares the magnitudes with those 20 and 50 ms ago and returns the smaller change. Mains hum repeats itself
// exactly after 20 ms at 50 Hz and 50 ms at 60 Hz, and so do steady tones, but speech never does.
func (h *harmonicity) measureChange(power *[binCount]float32) float32 {
	long := &h.magnitude[h.at]
	short := &h.magnitude[(h.at+changeFrames-changeShort)%changeFrames]
	h.at = (h.at + 1) % changeFrames
	var difference, sum, longDifference, longSum float32
	for k := firstBin; k < lowBins; k++ {
		m := squareRoot(power[k])
		difference += absolute(m - short[k])
		sum += m + short[k]
		longDifference += absolute(m - long[k])
		longSum += m + long[k]
		long[k] = m
	}
	const least = 1e-9 // silence does not change
	return min(difference/(sum+least), longDifference/(longSum+least))
}
