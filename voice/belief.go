package voice

// The features of a frame give a log-likelihood ratio, speech against none, and a hidden Markov chain of the two states
// turns the ratios into a probability, as J. Sohn, N. S. Kim and W. Sung do ("A statistical model-based voice activity
// detection", 1999). The constants were fitted by random search on recorded and synthetic speech with noise: see the
// package comment.
const (
	// staying is the probability that speech goes on for another frame, beginning that it begins.
	staying   = 0.97
	beginning = 0.015
	// The log odds keep within these, which bounds how long the end of speech takes: 60 ms.
	leastOdds = -5
	mostOdds  = 4
	firstOdds = -4

	voicedGain = 3    // log-likelihood ratio of a clearly voiced frame
	silence    = 0.85 // the same, negative, of a frame that does not stand above the noise
	// roomFor is the room in dB from which a frame of silence counts in full. In loud noise, where the weak sounds of speech are
	// hidden, it says less; leastRoom is the least that it counts.
	roomFor   = 35
	leastRoom = 0.35
	unvoiced  = 0.2 // of one that does without being voiced: it decides nothing quickly
	steady    = 0.8 // of one that repeats itself exactly, on top of that
	modulated = 0.9 // positive, of one that belongs to unvoiced speech

	// Unvoiced speech (a whisper) is sound for modulatedRun frames whose shape changes by modulatedFlux dB in 80 ms. Steady
	// and gusty noise changes by 0.5 to 1.9, whispering by 2 to 10.
	modulatedRun  = 12
	modulatedFlux = 2.2
)

// belief is the probability of speech and what it rests on.
type belief struct {
	logOdds  float32
	speaking bool // hysteresis of its own: what is asked of an onset is not asked of speech that goes on
}

func (b *belief) reset() { *b = belief{logOdds: firstOdds} }

// update takes a frame's features into account and returns the probability of speech and how voiced the frame is.
func (b *belief) update(f *features) (probability, voiced float32) {
	voiced = b.voiced(f)
	prior := probabilityOf(b.logOdds)
	prior = staying*prior + beginning*(1-prior)
	odds := float32(logarithm(float64(prior/(1-prior)))) + evidence(f, voiced)
	b.logOdds = clamp(odds, leastOdds, mostOdds)
	p := probabilityOf(b.logOdds)
	b.speaking = p >= 0.5 || b.speaking && p >= 0.25
	return p, voiced
}

// voiced is how much a frame sounds like a voice with a pitch, in [0, 1]. A sound with a period counts, more so when the
// upper bins share it, less so when one tone makes most of it, and not at all when it repeats itself like a machine. Before
// speech has begun a sound that dies away counts less (key strokes and knocks ring, an onset grows), and so does one
// that is hardly there.
func (b *belief) voiced(f *features) float32 {
	score := f.periodicity + 0.35*clamp(f.upper, 0, 0.4) - 0.35*max(f.crest-0.25, 0)
	if !b.speaking {
		score -= 0.022 * max(f.fall-1.4, 0)
	}
	v := clamp((score-0.25)/0.1, 0, 1) * (1 - steadiness(f))
	if !b.speaking {
		v *= (1 - clamp((f.crest-0.5)/0.12, 0, 1)) * clamp((f.level+60)/8, 0, 1)
	}
	return v
}

// steadiness is 1 for what repeats itself exactly. Voiced speech changes by 0.06 and more.
func steadiness(f *features) float32 { return clamp((0.07-f.change)/0.02, 0, 1) }

// evidence is the log-likelihood ratio of a frame.
func evidence(f *features, voiced float32) float32 {
	present := clamp((f.elevation-0.01)/0.02, 0, 1)
	against := -unvoiced - steady*steadiness(f)
	support := against + (voicedGain-against)*voiced
	if f.run >= modulatedRun && f.flux > modulatedFlux && f.level > -56 {
		support = max(support, modulated)
	}
	return present*support - (1-present)*silence*clamp(f.room/roomFor, leastRoom, 1)
}

func probabilityOf(logOdds float32) float32 { return float32(1 / (1 + exponential(-float64(logOdds)))) }
