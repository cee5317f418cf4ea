package sdk

// The deadlines of a session's states: when a state has waited too long for the server or the user. A deadline is Never when the
// state waits for nobody.

import "time"

// connectionRestored starts all waits again: for a while the server could say nothing.
func (f *dialogState) connectionRestored(now time.Duration) {
	f.responseSignAt, f.soundSignAt, f.turnSignAt = now, now, now
	for i := range f.expected {
		f.expected[i].since = now
	}
}

// levels takes the loudness of both sides. Sound shows that the side that is heard still goes on.
func (f *dialogState) levels(l Levels, now time.Duration) {
	f.meteredAt = now
	if l.Agent > audible {
		f.soundSignAt, f.responseSignAt = now, now
	}
	if l.Mic > audible && f.speaking() {
		f.turnSignAt = now
	}
}

// turnDeadline returns when the present turn has waited too long for its next event.
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

// expectedDeadline returns when the first expected input is given up.
func (f *dialogState) expectedDeadline() time.Duration {
	next := Never
	for _, e := range f.expected {
		if at := e.since + e.wait; next == Never || at < next {
			next = at
		}
	}
	return next
}

// responseDeadline returns when the live response has been without a sign for too long.
func (f *dialogState) responseDeadline(l *Limits) time.Duration {
	if f.confirmed().Live == 0 {
		return Never
	}
	return f.responseSignAt + l.AnswerSilence
}

// soundDeadline returns when a complete response counts as played because it has been silent. It is Never while the response is being
// made.
func (f *dialogState) soundDeadline(l *Limits) time.Duration {
	if o := f.confirmed(); o.Sound == 0 || o.Live != 0 {
		return Never
	}
	return f.soundSignAt + l.SoundSilence
}

// meteredLag is how old the last levels may be. They come some 20 times a second, in a hidden page once a second.
const meteredLag = 2 * time.Second

// postponeSilence moves the deadlines that silence decides, but not longer than maxUnmeasured.
func (f *dialogState) postponeSilence(now time.Duration) {
	if now-f.soundBeganAt < f.maxUnmeasured {
		f.soundSignAt = now
	}
	if f.speaking() && now-f.speechBeganAt < f.maxUnmeasured {
		f.turnSignAt = now
	}
}

// unmetered reports whether nobody measures the levels at present. Then silence cannot be told from sound, and the client
// believes the server.
func (f *dialogState) unmetered(now time.Duration) bool {
	return f.meteredAt == 0 || now-f.meteredAt > meteredLag
}
