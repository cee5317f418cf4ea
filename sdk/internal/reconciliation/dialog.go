// Package reconciliation keeps the confirmed state of a dialog, which follows from the server's events, and the predicted state, which
// adds the actions of the user that the server has not answered yet. It drives coord/view: it adds the names of turns and
// responses, the turn between its end of speech and its commit, and the deadlines. One goroutine at a time may use it.
package reconciliation

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/view"
)

// Dialog is the state of one conversation. All its times are on the session's clock.
type Dialog struct {
	// PushToTalk: the user holds the push-to-talk key; only the client knows.
	PushToTalk bool
	// Model has the confirmed state, and the inputs that the server has not answered. The caller only reads it.
	Model view.Model
	// Steps are the transitions since the caller has last cleared them.
	Steps []Step

	// turns and responses give numbers to the protocol's ids.
	turns, responses idNumbers
	expected         []expected   // the inputs that the server has not answered. Invariant: len <= view.Most
	candidate        view.Seq     // the expectation that the candidate is confirmed
	interruption     view.Seq     // the expectation that sustained speech is confirmed
	stopped          machine.Turn // the turn whose speech has stopped and which the server has not committed; 0 for none
	unwanted         bool         // the user interrupted the due response before it began
	sound            string       // the id of the response that is heard; "" when none is, or when the server gives no id

	waits Waits
	signs signs
}

// Step is a transition of the view: an event of the server, or an input of this client.
type Step struct {
	From  view.State
	Event view.Event
	To    view.State
}

// expected is an input of this client that the server has not answered yet. If the server does not answer in time, the client
// drops its prediction.
type expected struct {
	seq   view.Seq
	input view.Input
	item  string // the item that the input is about; may be empty
	since time.Duration
	wait  time.Duration
}

// New returns the dialog before the server has opened its session.
func New(w Waits) Dialog {
	return Dialog{Model: view.Model{Confirmed: view.Closed{}}, waits: w}
}

// Confirmed returns what the server has said.
func (d *Dialog) Confirmed() view.Open {
	o, _ := d.Model.Confirmed.(view.Open)
	return o
}

// Predicted returns the state that the server will confirm if every input of this client has its expected effect.
func (d *Dialog) Predicted() view.Open {
	o, _ := d.Model.Replay().(view.Open)
	if d.unwanted {
		o.Waiting = 0
	}
	if d.PushToTalk && o.Speech == 0 {
		o.Speech = view.ForeseenTurn
	}
	return o
}

// Tell takes an event of the server that is about no turn and no response.
func (d *Dialog) Tell(e view.Told) { d.tell(e, 0) }

// tell takes an event of the server. answers is the input that the event answers; 0 for none.
func (d *Dialog) tell(e view.Told, answers view.Seq) {
	before := d.Model.Confirmed
	d.Model.Take(e, answers)
	d.forgetAnswered()
	d.Steps = append(d.Steps, Step{before, e, d.Model.Confirmed})
}

// Configured takes the settings of the server's session.
func (d *Dialog) Configured(interrupts, answers bool) {
	if _, on := d.Model.Confirmed.(view.Open); on {
		d.tell(view.Configured{Interrupts: interrupts, Answers: answers}, 0)
	} else {
		d.tell(view.Opened{Interrupts: interrupts, Answers: answers}, 0)
	}
}

// Expect notes an input of this client before its message is sent. It returns the number of the input; 0 when too many inputs
// wait already, and then the input is not predicted. wait is how long the server may take to answer.
func (d *Dialog) Expect(in view.Input, item string, wait, now time.Duration) view.Seq {
	before := d.Model.Replay()
	seq := d.Model.Expect(in)
	if !d.Model.Awaits(seq) {
		return 0
	}
	d.expected = append(d.expected, expected{seq: seq, input: in, item: item, since: now, wait: wait})
	d.Steps = append(d.Steps, Step{before, in, d.Model.Replay()})
	return seq
}

// ExpectVerdict notes a candidate. wait is how long the server may take to confirm or reject it.
func (d *Dialog) ExpectVerdict(wait, now time.Duration) {
	d.candidate = d.Expect(view.Candidate{}, "", wait, now)
}

// ExpectInterruption notes that the speech of the candidate lasts, so that the server will surely confirm it.
func (d *Dialog) ExpectInterruption(wait, now time.Duration) {
	d.interruption = d.Expect(view.Interrupt{}, "", wait, now)
}

// Rejected notes that the server has rejected the candidate.
func (d *Dialog) Rejected() { d.tell(view.Rejected{}, d.candidate) }

// SpeechEnded gives up the expectation that the candidate is surely confirmed.
func (d *Dialog) SpeechEnded() { d.drop(d.interruption) }

// NotConfirmed gives up what was expected of the candidate.
func (d *Dialog) NotConfirmed() {
	d.drop(d.candidate)
	d.drop(d.interruption)
}

// drop gives up the expected effect of an input.
func (d *Dialog) drop(seq view.Seq) {
	d.Model.Forget(seq)
	d.forgetAnswered()
}

// Refused notes that the server has refused an input.
func (d *Dialog) Refused(seq view.Seq) { d.tell(view.Refused{}, seq) }

// AnswerRefused notes that the server has refused to begin a response.
func (d *Dialog) AnswerRefused(seq view.Seq) {
	d.Refused(seq)
	d.unwanted = false
}

// Interrupted gives up a response that is due and has not begun.
func (d *Dialog) Interrupted() {
	due := d.Confirmed().Waiting != 0
	for _, e := range d.expected {
		if asks(e.input) {
			due = true
			d.Model.Forget(e.seq)
		}
	}
	d.unwanted = d.unwanted || due
	d.forgetAnswered()
}

// asks reports whether an input expects a response.
func asks(in view.Input) bool {
	switch in.(type) {
	case view.Write, view.Ask, view.Commit:
		return true
	case view.Candidate, view.Interrupt, view.Cancel, view.Clear:
	}
	return false
}

// forgetAnswered forgets the inputs that the server has answered.
func (d *Dialog) forgetAnswered() {
	left := d.expected[:0]
	for _, e := range d.expected {
		if d.Model.Awaits(e.seq) {
			left = append(left, e)
		}
	}
	d.expected = left
}

// Thinking reports whether the agent works in this state, and is not heard: it makes a response, or it is to make one.
func (d *Dialog) Thinking(o view.Open) bool { return o.Live != 0 || o.Waiting != 0 || d.stopped != 0 }

// Idle reports whether nobody speaks and no response is due, so that the client may ask for one.
func (d *Dialog) Idle() bool {
	o := d.Predicted()
	return o.Speech == 0 && !d.Thinking(o) && d.Confirmed().Live == 0
}

// Item returns the item of the present turn; "" when there is none.
func (d *Dialog) Item() string {
	o := d.Confirmed()
	switch {
	case o.Speech != 0:
		return d.turns.name(uint64(o.Speech))
	case d.stopped != 0:
		return d.turns.name(uint64(d.stopped))
	}
	return d.turns.name(uint64(o.Waiting))
}

func (d *Dialog) turn(item string) machine.Turn { return machine.Turn(d.turns.number(item)) }
func (d *Dialog) response(name string) machine.Response {
	return machine.Response(d.responses.number(name))
}

// IsLive reports whether the server is making this response now.
func (d *Dialog) IsLive(name string) bool {
	live := d.Confirmed().Live
	return live != 0 && uint64(live) == d.responses.find(name)
}

// Sound returns the id of the response that is heard; "" when none is, or when the server gives no id. sounding is false when none is.
func (d *Dialog) Sound() (name string, sounding bool) { return d.sound, d.Confirmed().Sound != 0 }

// SpeechStarted notes that a turn has begun.
func (d *Dialog) SpeechStarted(item string, now time.Duration) {
	d.stopped, d.unwanted = 0, false
	d.signs.turn, d.signs.speechBegan = now, now
	d.tell(view.SpeechStarted{Turn: d.turn(item)}, 0)
}

// SpeechStopped notes the end of speech. answered says that the server will answer the turn by itself.
func (d *Dialog) SpeechStopped(item string, answered bool, now time.Duration) {
	turn := d.turn(item)
	if d.Confirmed().Speech == turn && answered {
		d.stopped, d.signs.turn = turn, now
	}
	d.tell(view.SpeechStopped{Turn: turn}, 0)
}

// Committed notes that the server has committed a turn. byClient says that this client asked for the commit.
func (d *Dialog) Committed(item string, byClient bool, now time.Duration) {
	turn := d.turn(item)
	if d.Confirmed().Speech == turn {
		d.tell(view.SpeechStopped{Turn: turn}, 0) // the server left this event out
	}
	if d.stopped == turn {
		d.stopped = 0
	}
	d.signs.turn = now
	d.tell(view.Committed{Turn: turn, ByClient: byClient}, 0)
}

// WithoutWords notes that the server has understood no words in a turn. No answer is expected; one that comes is shown.
func (d *Dialog) WithoutWords(item string) {
	d.tell(view.Transcribed{Turn: d.turn(item), Empty: true}, 0)
}

// Deleted ends the turn of this item if it is the present one.
func (d *Dialog) Deleted(item string) {
	if item != "" && d.Item() == item {
		d.endTurn()
	}
}

// DropTurn ends a turn that is not committed, and returns its item. open is false if there is none.
func (d *Dialog) DropTurn() (item string, open bool) {
	if d.Confirmed().Speech == 0 && d.stopped == 0 {
		return "", false
	}
	item = d.Item()
	d.endTurn()
	return item, true
}

// endTurn ends the present turn without an answer.
func (d *Dialog) endTurn() {
	o := d.Confirmed()
	d.stopped = 0
	if o.Speech != 0 {
		d.tell(view.SpeechStopped{Turn: o.Speech}, 0)
	}
	if o.Waiting != 0 {
		d.tell(view.Transcribed{Turn: o.Waiting, Empty: true}, 0)
	}
}

// ResponseCreated notes that the server has begun a response. It returns true if the user does not want it any more.
func (d *Dialog) ResponseCreated(name string, now time.Duration) (unwanted bool) {
	d.signs.response = now
	d.tell(view.Created{Resp: d.response(name)}, 0)
	unwanted, d.unwanted = d.unwanted, false
	return unwanted
}

// ResponseDone notes that a response is complete.
func (d *Dialog) ResponseDone(name string, now time.Duration) {
	d.signs.sound, d.signs.soundBegan = now, now
	d.tell(view.Done{Resp: d.response(name)}, 0)
}

// SoundStarted notes that the playback of a response has begun.
func (d *Dialog) SoundStarted(name string, now time.Duration) {
	d.sound, d.signs.sound, d.signs.soundBegan = name, now, now
	d.tell(view.Started{Resp: d.response(name)}, 0)
}

// SoundEnded notes that the playback of a response has ended, or was cut. An empty name means whichever response is heard. It
// returns false when another response is heard, or none.
func (d *Dialog) SoundEnded(name string, cut bool) bool {
	o := d.Confirmed()
	if o.Sound == 0 || name != "" && d.sound != "" && d.sound != name {
		return false
	}
	d.sound = ""
	if cut {
		d.tell(view.Cleared{Resp: o.Sound}, 0)
	} else {
		d.tell(view.Stopped{Resp: o.Sound}, 0)
	}
	return true
}
