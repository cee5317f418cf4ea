package voice

// This file turns the features of frames into the probability of speech.

// The features of a frame give a log-likelihood ratio of speech to no speech. A hidden Markov chain of these two states turns the ratios into
// a probability, as J. Sohn, N. S. Kim and W. Sung do ("A statistical model-based voice activity
// detection", 1999). The constants were fitted by random search on recorded and synthetic speech with noise: see the
// package comment.
const (
	// staying is the probability that speech continues in the next frame, beginning the probability that it begins.
	staying   = 0.97
	beginning = 0.015
	// Limits of the log odds. They limit how long the end of speech is delayed: 60 ms.
	leastOdds = -5
	mostOdds  = 4
	firstOdds = -4

	voicedGain = 3    // log-likelihood ratio of a clearly voiced frame
	silence    = 0.85 // the same, negative, of a frame that is not above the noise
	// roomFor is the room in dB from which a silent frame counts in full. In loud noise, which hides the weak sounds of speech, a silent
	// frame counts less, but at least leastRoom.
	roomFor   = 35
	leastRoom = 0.35
	unvoiced  = 0.2 // of a frame above the noise that is not voiced; it is small, so that such frames decide slowly
	steady    = 0.8 // of a frame that repeats itself exactly, in addition
	modulated = 0.9 // positive, of a frame that belongs to unvoiced speech

	// Unvoiced speech (a whisper) is sound for modulatedRun frames whose shape changes by modulatedFlux dB in 80 ms. Steady
	// and gusty noise changes by 0.5 to 1.9, whispering by 2 to 10.
	modulatedRun  = 12
	modulatedFlux = 2.2
)

// belief is the probability of speech and the state from which it is computed.
type belief struct {
	logOdds  float32
	speaking bool // speech has begun; the conditions for an onset do not apply then
}

func (b *belief) reset() { *b = belief{logOdds: firstOdds} }

// update adds the features of a frame, and returns how voiced the frame is.
func (b *belief) update(f *features) (voiced float32) {
	voiced = b.voiced(f)
	prior := probabilityOf(b.logOdds)
	prior = staying*prior + beginning*(1-prior)
	odds := float32(logarithm(float64(prior/(1-prior)))) + evidence(f, voiced)
	b.logOdds = clamp(odds, leastOdds, mostOdds)
	p := probabilityOf(b.logOdds)
	b.speaking = p >= 0.5 || b.speaking && p >= 0.25
	return voiced
}

// voiced returns how much a frame sounds like voiced speech, in [0, 1]. A periodic sound has a high value: higher if the upper bins have the
// same period, lower if it is mostly one tone, and 0 if it repeats itself exactly, like a machine. Before speech has begun the value is
// also lower for a sound that decays, because key strokes and knocks ring and an onset grows, and for a sound that is hardly above the
// noise.
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

// steadiness returns 1 for a sound that repeats itself exactly. Voiced speech changes by at least 0.06.
func steadiness(f *features) float32 { return clamp((0.07-f.change)/0.02, 0, 1) }

// evidence returns the log-likelihood ratio of a frame.
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
