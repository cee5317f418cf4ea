package voice

// This file tells the user's voice from a cough and from a softer voice, by the first 0.2 s of it.

// Likeness decides from when on a sound over the agent is like the user's voice, so that the agent must be silent. A cough has no pitch. Who speaks to
// somebody else is softer. The numbers were chosen with `make bench-turns` (prompts a to m). The zero value has heard nothing. One goroutine at a time
// may use it.
type Likeness struct {
	like   bool    // the sound is like the user's voice
	frames int     // since it began, or began again after a gap of more than likeGap frames
	voiced int     // of them, with speech; the newest likeOver of them are in pitch
	age    int     // frames from the first to the last frame of speech
	speech int     // of them, with speech
	gap    int     // frames since the last speech
	peak   float32 // the highest level, in dBFS
	user   float32 // the level of the user, in dBFS; 0 while it is not known
	pitch  [likeOver]float32
}

const (
	// A sound is like the user's voice after likeAfter frames, if its last likeOver frames with speech have a periodicity of likePitch on average. Speech
	// has 0.4 to 0.7, and 0.3 in noise; a cough has less than 0.26.
	likeAfter, likeOver = 17, 14
	likePitch           = 0.27
	// likeFall is how far a frame may lie below the peak, in dB: a sound that fades is over.
	likeFall = 20
	// A sound whose peak is more than likeSofter dB below the level of the user is softer. The user's own peaks are some 3 dB above the level.
	likeSofter = 2
	// The level is learned from sounds with likeSentence frames of speech: it is what Talker knows at their end, with the weight likeLearns. Talker alone does
	// not do, because a cough lifts its level, and a softer voice lowers it. A softer sentence lowers the level by likeSinks dB, so that a user who
	// becomes softer is known again.
	likeSentence          = 60
	likeLearns, likeSinks = 0.25, 0.25
	// likeGap is the longest gap in a sound, in frames. likeEnd ends the sound.
	likeGap, likeEnd = 10, 25
	// A sound of at most likeShort frames, as "yes" and "um", is over after likePause frames: the agent need not be silent any more. A longer one is
	// a sentence, in which the user pauses.
	likeShort, likePause = 50, 4
)

// Frame takes the frame that d and t took last, says whether it is speech of the user, and reports whether the agent must be silent.
func (l *Likeness) Frame(d *Detector, t *Talker, speech bool) bool {
	if !speech {
		return l.silence(t)
	}
	level := d.speechLevel()
	if l.speech == 0 {
		l.gap = 0
	}
	if l.frames == 0 {
		l.peak, l.voiced = level, 0
	} else {
		l.frames += l.gap
	}
	l.frames++
	l.age += 1 + l.gap
	l.speech++
	l.gap = 0
	l.peak = max(l.peak, level)
	l.pitch[l.voiced%likeOver] = d.features.periodicity
	l.voiced++
	l.like = l.like || l.frames >= likeAfter && level >= l.peak-likeFall && !l.Softer() && l.hasPitch()
	return l.like
}

// silence takes a frame without speech.
func (l *Likeness) silence(t *Talker) bool {
	l.gap++
	switch {
	case l.gap == likeEnd:
		l.learn(t)
		*l = Likeness{gap: l.gap, user: l.user}
	case l.gap > likeGap:
		l.frames = 0
	}
	return l.like && (l.age > likeShort || l.gap < likePause)
}

// learn learns from a sound that has ended.
func (l *Likeness) learn(t *Talker) {
	switch {
	case l.speech < likeSentence || t.heard < talkerFirst:
	case l.user == 0:
		l.user = t.level
	case l.like:
		l.user += likeLearns * (t.level - l.user)
	case l.Softer():
		l.user -= likeSinks
	}
}

// Like reports whether the sound is like the user's voice, or was until a moment ago.
func (l *Likeness) Like() bool { return l.like }

// Softer reports whether the sound is softer than the user.
func (l *Likeness) Softer() bool { return l.speech > 0 && l.user < 0 && l.peak < l.user-likeSofter }

// hasPitch reports whether the sound is periodic as a voice.
func (l *Likeness) hasPitch() bool {
	n := min(l.voiced, likeOver)
	var sum float32
	for _, p := range l.pitch[:n] {
		sum += p
	}
	return sum >= likePitch*float32(n)
}
