package sounds

// What a second of sound looks like: numbers that tell speech, music, tones, noise and clicks apart.

import (
	"math"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

const (
	window = 1024             // samples of a spectrum: 64 ms
	hop    = voice.FrameSize  // samples between two spectra: 10 ms
	binHz  = 16000.0 / window // distance of two bins
	low    = 6                // first bin that counts: 94 Hz
	high   = 243              // the bin after the last that counts: 3.8 kHz, so that sound of a telephone is judged like other sound
	back   = 10               // frames between two spectra that are compared: 100 ms
	top    = 5                // strongest peaks that are looked at
	pair   = 2                // how many tones a signal tone has at most
	near   = 2                // bins of a peak on each side of its highest bin
	active = 30               // dB below the loudest frame: what is softer is silence
	quiet  = -65              // dBFS: what is softer is silence
	pure   = 0.9              // share of the power from which on the tones are all there is
	floor  = 1e-12            // power that is added before a logarithm
	bins   = high - low       // bins that count
)

// features describe a stretch of sound.
type features struct {
	active  int     // frames that are not silence
	share   float64 // how many of the frames these are, from 0 to 1
	flat    float64 // flatness of the spectrum in dB: 0 for white noise, far below for tones
	same    float64 // correlation of the spectra (in dB) of 100 ms before and now, from -1 to 1
	held    float64 // share of the strongest peaks that were there 100 ms before
	swing   float64 // standard deviation of the level, in dB
	tonal   float64 // share of the frames in which at most two tones go on from 100 ms before
	longest int     // frames of the longest stretch without silence
	click   bool    // there are only short sounds, and none of them goes on before or after the stretch
}

// frame is what is kept of one spectrum.
type frame struct {
	level float64 // dBFS
	db    [bins]float32
	peak  [top]int // the strongest peaks, strongest first; 0 for none
	share float64  // of the power, in the first two of these peaks
	flat  float64  // dB
}

// analyser computes frames. It belongs to one goroutine.
type analyser struct {
	spectrum *voice.Spectrum
	shape    [window]float32 // the window
	x        [window]float32
	power    [window/2 + 1]float32
}

func newAnalyser() *analyser {
	a := &analyser{spectrum: voice.NewSpectrum(window)}
	for i := range a.shape {
		a.shape[i] = float32(0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/window))
	}
	return a
}

// frames returns a frame for each hop of pcm. Audio that is shorter than a window has none.
func (a *analyser) frames(pcm []float32) []frame {
	var all []frame
	for at := 0; at+window <= len(pcm); at += hop {
		all = append(all, a.frame(pcm[at:at+window]))
	}
	return all
}

func (a *analyser) frame(pcm []float32) (f frame) {
	for i, v := range pcm {
		a.x[i] = v * a.shape[i]
	}
	a.spectrum.Power(a.power[:window/2], a.x[:])
	// The level is that of the middle of the window, so that a short sound is in few frames.
	var energy float64
	const from = window/2 - hop
	for _, v := range pcm[from : from+2*hop] {
		energy += float64(v) * float64(v)
	}
	f.level = 10 * math.Log10(energy/(2*hop)+floor)
	var sum, logs float64
	for i := range f.db {
		p := float64(a.power[low+i])
		sum += p
		db := 10 * math.Log10(p+floor)
		logs += db
		f.db[i] = float32(db)
	}
	f.flat = logs/bins - 10*math.Log10(sum/bins+floor)
	var strong float64
	for n := range f.peak {
		best := 0
		for i := 1; i < bins-1; i++ {
			if f.db[i] >= f.db[i-1] && f.db[i] > f.db[i+1] && (best == 0 || f.db[i] > f.db[best]) && !taken(f.peak[:n], i) {
				best = i
			}
		}
		if f.peak[n] = best; best == 0 {
			break
		}
		for i := max(0, best-near); n < pair && i <= min(bins-1, best+near); i++ {
			strong += float64(a.power[low+i])
		}
	}
	f.share = math.Min(1, strong/(sum+floor))
	return f
}

func taken(peaks []int, i int) bool {
	for _, p := range peaks {
		if p != 0 && i >= p-near && i <= p+near {
			return true
		}
	}
	return false
}

// describe returns the features of frames. loudest is the level of the loudest frame of the utterance, in dBFS.
func describe(all []frame, loudest float64) (f features) {
	var level, squares float64
	var compared, was, now, tonal, run int
	for t := range all {
		x := &all[t]
		if !sounds(x, loudest) {
			run = 0
			continue
		}
		run++
		f.longest = max(f.longest, run)
		f.active++
		level += x.level
		squares += x.level * x.level
		f.flat += x.flat
		if t < back || !sounds(&all[t-back], loudest) {
			continue
		}
		before := &all[t-back]
		compared++
		f.same += correlation(&before.db, &x.db)
		if x.share > pure && at(before.peak[:pair], x.peak[0]) {
			tonal++
		}
		for _, p := range x.peak {
			if p == 0 {
				continue
			}
			now++
			if at(before.peak[:], p) {
				was++
			}
		}
	}
	if f.active == 0 {
		return f
	}
	n := float64(f.active)
	f.share = n / float64(len(all))
	f.flat /= n
	f.swing = math.Sqrt(math.Max(0, squares/n-level/n*level/n))
	if compared > 0 {
		f.same /= float64(compared)
		f.tonal = float64(tonal) / float64(compared)
	}
	if now > 0 {
		f.held = float64(was) / float64(now)
	}
	return f
}

// sounds reports whether a frame is not silence.
func sounds(f *frame, loudest float64) bool { return f.level > quiet && f.level > loudest-active }

// at reports whether one of the peaks is at bin i, or beside it.
func at(peaks []int, i int) bool {
	for _, p := range peaks {
		if p != 0 && i >= p-1 && i <= p+1 {
			return true
		}
	}
	return false
}

func correlation(a, b *[bins]float32) float64 {
	var sa, sb, saa, sbb, sab float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		sa, sb, saa, sbb, sab = sa+x, sb+y, saa+x*x, sbb+y*y, sab+x*y
	}
	va, vb := saa-sa*sa/bins, sbb-sb*sb/bins
	if va <= 0 || vb <= 0 {
		return 0
	}
	return (sab - sa*sb/bins) / math.Sqrt(va*vb)
}
