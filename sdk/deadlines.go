package sdk

import "time"

// linkRestored: the server has said something, after a while in which it could not.
func (f *dialogState) linkRestored(now time.Duration) {
	f.responseSignAt, f.soundSignAt, f.turnSignAt = now, now, now
	for i := range f.expected {
		f.expected[i].since = now
	}
}

// levels are signs of life of whoever is heard.
func (f *dialogState) levels(l Levels, now time.Duration) {
	f.meteredAt = now
	if l.Agent > audible {
		f.soundSignAt, f.responseSignAt = now, now
	}
	if l.Mic > audible && f.speaking() {
		f.turnSignAt = now
	}
}

// The deadlines are the moments at which a state has waited too long for somebody else; Never when it waits for nobody.

func (f *dialogState) turnDeadline(l *Limits) time.Duration {
	o := f.confirmed()
	switch {
	case o.Speech != 0:
		return f.turnSignAt + l.TurnSilence
	case f.stopped != 0:
		return f.turnSignAt + l.Commit
	case o.Waiting != 0 && o.Live == 0:
		return f.turnSignAt + l.AnswerStart
	}
	return Never
}

// expectedDeadline is that of the first expectation to be given up.
func (f *dialogState) expectedDeadline() time.Duration {
	next := Never
	for _, e := range f.expected {
		if at := e.since + e.wait; next == Never || at < next {
			next = at
		}
	}
	return next
}

func (f *dialogState) responseDeadline(l *Limits) time.Duration {
	if f.confirmed().Live == 0 {
		return Never
	}
	return f.responseSignAt + l.AnswerSilence
}

// soundDeadline holds only when the reply is made.
func (f *dialogState) soundDeadline(l *Limits) time.Duration {
	if o := f.confirmed(); o.Sound == 0 || o.Live != 0 {
		return Never
	}
	return f.soundSignAt + l.SoundSilence
}

// meteredLag is how old the last levels may be. They come some 20 times a second, once a second in a page that is hidden.
const meteredLag = 2 * time.Second

// postponeSilence puts off the deadlines that silence decides, but not for ever.
func (f *dialogState) postponeSilence(now time.Duration) {
	if now-f.soundBeganAt < f.maxUnmeasured {
		f.soundSignAt = now
	}
	if f.speaking() && now-f.speechBeganAt < f.maxUnmeasured {
		f.turnSignAt = now
	}
}

// unmetered: nobody measures the levels (any more), so no silence can be told from sound, and the server is believed.
func (f *dialogState) unmetered(now time.Duration) bool {
	return f.meteredAt == 0 || now-f.meteredAt > meteredLag
}
