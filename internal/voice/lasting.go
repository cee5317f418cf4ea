package voice

// This file tells speech that must stop the agent from a short sound, by the sound alone.

// Lasting decides from which frame on speech over the agent must silence it. "Mm-hm", "right", "um" and a cough are mostly over when a sentence has
// just begun; a cough does not change its spectrum as speech does; and who speaks to somebody else is softer. The numbers were chosen with
// `make bench-turns` (prompts a to m). The zero value has heard nothing. One goroutine at a time may use it.
type Lasting struct {
	frames int     // since the speech began, gaps included
	voiced int     // of them, with speech
	gap    int     // frames since the last speech
	peak   float32 // the highest level, in dBFS
	flux   float32 // the sum over the frames with speech
	user   float32 // the peaks of the user's sentences, on average; 0 while none is known
}

const (
	// The agent falls silent after lastsAfter frames, found some 30 ms after the sound begins, if the speech is still within lastsFall dB of its peak and
	// its spectrum changes by lastsFlux dB on average; otherwise when that is so again, or after lastsAnyway frames.
	lastsAfter, lastsAnyway = 31, 60
	lastsFall               = 10
	lastsFlux               = 2
	// lastsGap is the longest gap inside the speech, in frames.
	lastsGap = 10
	// Speech whose peak is more than lastsSofter dB below those of the user's sentences is softer: it must last for lastsSoft frames. A sentence has
	// lastsSentence frames of speech, and is no cough. One that is softer lowers what is known by lastsSink dB, so that a user who becomes softer is known again.
	lastsSofter   = 4.5
	lastsSoft     = 100
	lastsSentence = 60
	lastsSink     = 0.25
)

// Frame takes the frame that d took last, says whether it is speech of the user, and reports whether the agent must be silent because of the speech so far.
func (l *Lasting) Frame(d *Detector, speech bool) bool {
	if !speech {
		if l.gap++; l.gap > lastsGap {
			l.learn()
			*l = Lasting{gap: l.gap, user: l.user}
		}
		if l.frames > 0 {
			l.frames++
		}
		return false
	}
	level := d.speechLevel()
	if l.frames == 0 {
		l.peak = level
	}
	l.gap = 0
	l.frames++
	l.voiced++
	l.peak = max(l.peak, level)
	l.flux += d.features.flux
	switch {
	case l.Softer():
		return l.frames >= lastsSoft
	case l.frames >= lastsAnyway:
		return true
	}
	return l.frames >= lastsAfter && level >= l.peak-lastsFall && l.changes()
}

// changes reports whether the spectrum changes as that of speech.
func (l *Lasting) changes() bool { return l.flux >= lastsFlux*float32(l.voiced) }

// learn learns from what has ended.
func (l *Lasting) learn() {
	switch {
	case l.voiced < lastsSentence || !l.changes():
	case l.user == 0:
		l.user = l.peak
	case l.Softer():
		l.user -= lastsSink
	default:
		l.user += (l.peak - l.user) / 4
	}
}

// Softer reports whether the speech is softer than the user's.
func (l *Lasting) Softer() bool { return l.voiced > 0 && l.user < 0 && l.peak < l.user-lastsSofter }
