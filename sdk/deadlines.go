package sdk

import "time"

// sign: the server has said something, after a while in which it could not.
func (f *flow) sign(now time.Duration) {
	f.alive, f.heard, f.since = now, now, now
	for i := range f.expected {
		f.expected[i].since = now
	}
}

// levels are signs of life of whoever is heard.
func (f *flow) levels(l Levels, now time.Duration) {
	f.metered = now
	if l.Agent > audible {
		f.heard, f.alive = now, now
	}
	if l.Mic > audible && f.speaking() {
		f.since = now
	}
}

// The deadlines are the moments at which a state has waited too long for somebody else; Never when it waits for nobody.

func (f *flow) turnDeadline(l *Limits) time.Duration {
	o := f.confirmed()
	switch {
	case o.Speech != 0:
		return f.since + l.TurnSilence
	case f.stopped != 0:
		return f.since + l.Commit
	case o.Waiting != 0 && o.Live == 0:
		return f.since + l.AnswerStart
	}
	return Never
}

// expectedDeadline is that of the first expectation to be given up.
func (f *flow) expectedDeadline() time.Duration {
	next := Never
	for _, e := range f.expected {
		if at := e.since + e.wait; next == Never || at < next {
			next = at
		}
	}
	return next
}

func (f *flow) responseDeadline(l *Limits) time.Duration {
	if f.confirmed().Live == 0 {
		return Never
	}
	return f.alive + l.AnswerSilence
}

// soundDeadline holds only when the reply is made.
func (f *flow) soundDeadline(l *Limits) time.Duration {
	if o := f.confirmed(); o.Sound == 0 || o.Live != 0 {
		return Never
	}
	return f.heard + l.SoundSilence
}

// meteredLag is how old the last levels may be. They come some 20 times a second, once a second in a page that is hidden.
const meteredLag = 2 * time.Second

// unheard puts off the deadlines that silence decides, but not for ever.
func (f *flow) unheard(now time.Duration) {
	if now-f.made < f.most {
		f.heard = now
	}
	if f.speaking() && now-f.began < f.most {
		f.since = now
	}
}

// deaf: nobody measures the levels (any more), so no silence can be told from sound, and the server is believed.
func (f *flow) deaf(now time.Duration) bool {
	return f.metered == 0 || now-f.metered > meteredLag
}
