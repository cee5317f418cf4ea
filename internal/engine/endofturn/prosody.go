package endofturn

// The sound of the speech: pitch, level, the length of the last syllable, the speaking rate.

import (
	"math"
	"slices"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

const (
	history = 400 // frames that are looked at: 4 s

	decimate = 4 // the pitch is found at 4 kHz
	lagRate  = voice.FrameRate / decimate
	minLag   = lagRate / 400     // samples of the shortest period: 400 Hz
	maxLag   = lagRate / 65      // samples of the longest period: 65 Hz
	window   = lagRate * 4 / 100 // samples that are compared: 40 ms
	periodic = 0.55              // correlation of two periods from which on a frame is voiced

	tail      = 12 // voiced frames that are the end of the speech: 120 ms
	slopeOver = 30 // voiced frames over which the movement of the pitch is measured: 300 ms
	quieter   = 25 // dB below the loudest frame: no sound of the speech
	shortest  = 3  // frames of the shortest voiced stretch
	dip       = 3  // dB by which the level falls between two syllables
)

// tone is what is kept of a frame.
type tone struct {
	level  float32 // dBFS
	pitch  float32 // semitones above 1 Hz; 0: not voiced
	speech bool
}

// prosody measures the sound of a turn.
type prosody struct {
	before float32                      // sum of the last samples, for the filter before the decimation
	past   [window + maxLag + 1]float32 // the newest samples at lagRate
	tones  [history]tone                // a ring
	count  int                          // frames in all
	frames []tone                       // scratch: the tones of the speech in their order
	sorted []float32                    // scratch
}

// sound is what is known of the end of the speech. Each value is about 0 for an average end.
type sound struct {
	low      float64 // how far the pitch of the end is below the median of the turn, in semitones
	fall     float64 // how much the pitch falls at the end, in semitones
	unvoiced float64 // share of the last 200 ms that has no pitch
	quiet    float64 // how much quieter the end is than the speech, in dB
	long     float64 // length of the last voiced stretch, relative to the mean one, as a natural logarithm
	rate     float64 // syllables in a second
	duration float64 // of the speech, in seconds
	known    bool    // there is enough speech with a pitch
}

func newProsody() *prosody {
	return &prosody{frames: make([]tone, 0, history), sorted: make([]float32, 0, history)}
}

// frame takes the next 10 ms.
func (p *prosody) frame(pcm []float32, speech bool) {
	const fresh = voice.FrameSize / decimate
	copy(p.past[:], p.past[fresh:])
	into := p.past[len(p.past)-fresh:]
	var power float64
	for i := range into {
		var sum float32
		for _, x := range pcm[i*decimate : (i+1)*decimate] {
			sum += x
			power += float64(x) * float64(x)
		}
		// A mean of eight samples is a low-pass filter that is good enough for a pitch below 400 Hz.
		into[i] = (sum + p.before) / (2 * decimate)
		p.before = sum
	}
	t := tone{level: float32(10 * math.Log10(power/voice.FrameSize+1e-10)), speech: speech}
	if speech {
		t.pitch = p.pitch()
	}
	p.tones[p.count%history] = t
	p.count++
}

// pitch returns the pitch of the newest 40 ms, in semitones above 1 Hz; 0 if they have none. It is the first high peak of the normalised
// cross-correlation (Talkin, 1995).
func (p *prosody) pitch() float32 {
	now := p.past[len(p.past)-window:]
	var energy float32
	for _, x := range now {
		energy += x * x
	}
	if energy < 1e-6 {
		return 0
	}
	var corr [maxLag + 2]float32
	best := float32(0)
	before := energy
	for lag := 1; lag <= maxLag; lag++ {
		at := len(p.past) - window - lag
		// The window moves one sample back: one sample enters and one leaves.
		before += p.past[at]*p.past[at] - p.past[at+window]*p.past[at+window]
		if lag < minLag-1 {
			continue
		}
		var sum float32
		for i, x := range now {
			sum += x * p.past[at+i]
		}
		corr[lag] = sum / float32(math.Sqrt(float64(energy*max(before, 1e-9))))
		if lag >= minLag {
			best = max(best, corr[lag])
		}
	}
	if best < periodic {
		return 0
	}
	for lag := minLag; lag < maxLag; lag++ {
		if c := corr[lag]; c >= 0.9*best && c >= corr[lag-1] && c >= corr[lag+1] {
			left, right := corr[lag-1], corr[lag+1]
			shift := float32(0)
			if curve := left - 2*c + right; curve < 0 {
				shift = (left - right) / (2 * curve)
			}
			return float32(12 * math.Log2(lagRate/float64(float32(lag)+shift)))
		}
	}
	return 0
}

// measure looks at the speech up to now.
func (p *prosody) measure() (s sound) {
	speech := p.speech()
	if len(speech) < 10 {
		return s
	}
	s.duration = float64(len(speech)) / 100
	pitches := p.sorted[:0]
	for _, t := range speech {
		if t.pitch > 0 {
			pitches = append(pitches, t.pitch)
		}
	}
	s.quiet = level(speech) - level(speech[max(0, len(speech)-15):])
	for _, t := range speech[max(0, len(speech)-20):] {
		if t.pitch == 0 {
			s.unvoiced += 1.0 / 20
		}
	}
	s.long, s.rate = rhythm(speech)
	if len(pitches) < tail {
		return s
	}
	s.known = true
	end := mean(pitches[len(pitches)-tail:])
	before := mean(pitches[max(0, len(pitches)-slopeOver):max(1, len(pitches)-tail)])
	slices.Sort(pitches)
	s.low = clamp(float64(pitches[len(pitches)/2])-end, -12, 12)
	s.fall = clamp(before-end, -12, 12)
	return s
}

// speech returns the frames of the last seconds in which somebody speaks, without the silence and the detector's hangover at the end.
func (p *prosody) speech() []tone {
	out := p.frames[:0]
	loudest := float32(-100)
	for i := max(0, p.count-history); i < p.count; i++ {
		if t := p.tones[i%history]; t.speech {
			out = append(out, t)
			loudest = max(loudest, t.level)
		}
	}
	for len(out) > 0 && out[len(out)-1].level < loudest-quieter {
		out = out[:len(out)-1]
	}
	return out
}

// rhythm returns the length of the last voiced stretch relative to the mean one, as a logarithm, and the syllables in a second.
func rhythm(speech []tone) (long, rate float64) {
	runs, total, run, last := 0, 0, 0, 0
	syllables, rising, extreme := 0, true, float32(-100)
	for _, t := range speech {
		if t.pitch > 0 {
			run++
			last = run
			total++
		} else {
			if run >= shortest {
				runs++
			}
			run = 0
		}
		switch {
		case rising && t.level < extreme-dip: // the level falls: a syllable is over
			syllables++
			rising, extreme = false, t.level
		case rising:
			extreme = max(extreme, t.level)
		case t.level > extreme+dip:
			rising, extreme = true, t.level
		default:
			extreme = min(extreme, t.level)
		}
	}
	if run >= shortest {
		runs++
	}
	if runs > 0 {
		long = clamp(math.Log(float64(last+1)/(float64(total)/float64(runs)+1)), -2, 2)
	}
	return long, float64(syllables) * 100 / float64(len(speech))
}

// level returns the mean level of some frames, in dBFS.
func level(frames []tone) float64 {
	var sum float64
	for _, t := range frames {
		sum += float64(t.level)
	}
	return sum / float64(len(frames))
}

func mean(values []float32) float64 {
	var sum float64
	for _, v := range values {
		sum += float64(v)
	}
	return sum / float64(len(values))
}

func clamp(x, least, most float64) float64 { return min(max(x, least), most) }
