package reconciliation

// The deadlines of a dialog: when it has waited too long for the server or the user.

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
)

// Waits are how long a dialog waits; sdk.Limits says for what.
type Waits struct {
	TurnSilence, Commit, AnswerStart, AnswerSilence, SoundSilence, Unmeasured time.Duration
}

// signs are the times at which the client last knew that something goes on, and those at which it began.
type signs struct {
	turn        time.Duration // when the turn entered its state, or when its last event or sound came
	speechBegan time.Duration
	response    time.Duration // when the last event or sound of the live response came
	sound       time.Duration // when the client last knew that the playback goes on
	soundBegan  time.Duration // when the playback began, or the response was complete
	metered     time.Duration // when the last levels came; without levels the client cannot tell silence from sound
}

const (
	// audible is the level from which a side counts as making sound: 0.3 on the scale of sdk.Levels, which is -42 dBFS.
	audible = 0.3
	// meteredLag is how old the last levels may be. They come some 20 times a second, in a hidden page once a second.
	meteredLag = 2 * time.Second
)

// ConnectionRestored starts all waits again: for a while the server could say nothing.
func (d *Dialog) ConnectionRestored(now time.Duration) {
	d.signs.response, d.signs.sound, d.signs.turn = now, now, now
	for i := range d.expected {
		d.expected[i].since = now
	}
}

// Measured takes the loudness of both sides. Sound shows that the side that is heard still goes on.
func (d *Dialog) Measured(microphone, agent float32, now time.Duration) {
	d.signs.metered = now
	if agent > audible {
		d.signs.sound, d.signs.response = now, now
	}
	if microphone > audible && d.Confirmed().Speech != 0 {
		d.signs.turn = now
	}
}

// Captioned notes that words of a turn have come.
func (d *Dialog) Captioned(item string, now time.Duration) {
	if d.Item() == item {
		d.signs.turn = now
	}
}

// ResponseGoesOn notes that an event of the live response has come.
func (d *Dialog) ResponseGoesOn(now time.Duration) { d.signs.response = now }

// Deadline returns when the dialog has waited too long for something; deadline.Never when it waits for nothing.
func (d *Dialog) Deadline() time.Duration {
	return deadline.First(d.turnDeadline(), d.expectedDeadline(), d.responseDeadline(), d.soundDeadline())
}

// turnDeadline returns when the present turn has waited too long for its next event.
func (d *Dialog) turnDeadline() time.Duration {
	o := d.Confirmed()
	switch {
	case o.Speech != 0:
		return d.signs.turn + d.waits.TurnSilence
	case d.stopped != 0:
		return d.signs.turn + d.waits.Commit
	case o.Waiting != 0 && o.Live == 0:
		return d.signs.turn + d.waits.AnswerStart
	}
	return deadline.Never
}

// expectedDeadline returns when the first expected input is given up.
func (d *Dialog) expectedDeadline() time.Duration {
	next := deadline.Never
	for _, e := range d.expected {
		next = deadline.First(next, e.since+e.wait)
	}
	return next
}

// responseDeadline returns when the live response has been without a sign for too long.
func (d *Dialog) responseDeadline() time.Duration {
	if d.Confirmed().Live == 0 {
		return deadline.Never
	}
	return d.signs.response + d.waits.AnswerSilence
}

// soundDeadline returns when a complete response counts as played because it has been silent. It is Never while the response is being
// made.
func (d *Dialog) soundDeadline() time.Duration {
	if o := d.Confirmed(); o.Sound == 0 || o.Live != 0 {
		return deadline.Never
	}
	return d.signs.sound + d.waits.SoundSilence
}

// Timeout is a wait that has ended. Name is an item, a response or an input.
type Timeout struct {
	Kind TimeoutKind
	Name string
}

// TimeoutKind says what the dialog has waited for.
type TimeoutKind uint8

// The kinds.
const (
	// TurnEndless: the turn of the item Name has no end. The caller drops it by DropTurn.
	TurnEndless TimeoutKind = iota
	// TurnUnanswered: nothing answers the turn of the item Name.
	TurnUnanswered
	// InputUnanswered: nothing answers the message with the item Name, or the commit or the request for a response.
	InputUnanswered
	// ResponseSilent: the response Name gave no sign of life. It counts as done.
	ResponseSilent
	// PredictionFailed: nothing came of the input Name.
	PredictionFailed
	// SoundOver: the playback is silent. The caller ends it by SoundEnded.
	SoundOver
)

// TimedOut ends every wait whose deadline has passed, and returns these waits.
func (d *Dialog) TimedOut(now time.Duration) (ended []Timeout) {
	if d.signs.metered == 0 || now-d.signs.metered > meteredLag {
		d.postponeSilence(now)
	}
	if deadline.Passed(d.turnDeadline(), now) {
		if d.Confirmed().Speech != 0 || d.stopped != 0 {
			ended = append(ended, Timeout{TurnEndless, d.Item()})
		} else {
			ended = append(ended, Timeout{TurnUnanswered, d.Item()})
			d.endTurn()
		}
	}
	if deadline.Passed(d.responseDeadline(), now) {
		live := d.responses.name(uint64(d.Confirmed().Live))
		d.ResponseDone(live, now)
		ended = append(ended, Timeout{ResponseSilent, live})
	}
	for _, e := range append([]expected(nil), d.expected...) {
		if e.since+e.wait > now || !d.Model.Awaits(e.seq) {
			continue
		}
		d.drop(e.seq)
		if asks(e.input) {
			ended = append(ended, Timeout{InputUnanswered, e.item})
		} else {
			ended = append(ended, Timeout{PredictionFailed, e.input.Name()})
		}
	}
	if deadline.Passed(d.soundDeadline(), now) {
		ended = append(ended, Timeout{Kind: SoundOver})
	}
	return ended
}

// postponeSilence moves the deadlines that silence decides where nobody measures the levels: there silence cannot be told from sound, and
// the client believes the server, but for no longer than Waits.Unmeasured.
func (d *Dialog) postponeSilence(now time.Duration) {
	if now-d.signs.soundBegan < d.waits.Unmeasured {
		d.signs.sound = now
	}
	if d.Confirmed().Speech != 0 && now-d.signs.speechBegan < d.waits.Unmeasured {
		d.signs.turn = now
	}
}
