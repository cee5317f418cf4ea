package sdk

// The driver of coord/view: who is speaking, which response is due, and which answers of the server the client expects.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/coord/view"
)

// dialogState drives coord/view. The view holds the confirmed state (what the server has said) and the inputs that predict what
// comes next. dialogState adds what the view leaves to its driver: the names of turns and responses, the turn between its end of
// speech and its commit, and the times that deadlines are counted from.
type dialogState struct {
	model *view.Model
	// turns and responses give numbers to the protocol's ids.
	turns, responses idNumbers
	expected         []expected // the inputs that the server has not answered. Invariant: len <= view.Most
	hook             func(from view.State, e view.Event, to view.State)

	stopped       id.Turn       // the turn whose speech has stopped and which the server has not committed; 0 for none
	turnSignAt    time.Duration // when the turn entered its state, or when its last event or sound came
	speechBeganAt time.Duration // when the speech of the turn began
	pushToTalk    bool          // the user holds the push-to-talk key; only the client knows
	unwanted      bool          // the user interrupted the due response before it began

	responseSignAt time.Duration // when the last event or sound of the live response came
	sound          string        // the id of the response that is heard; "" when none is, or when the server gives no id
	soundSignAt    time.Duration // the last time at which the client knew that the playback goes on
	soundBeganAt   time.Duration // when the playback began, or the response was complete
	meteredAt      time.Duration // when the last levels came; without levels the client cannot tell silence from sound
	maxUnmeasured  time.Duration // Limits.Unmeasured
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

// audible is the level from which a side counts as making sound: 0.3 on the scale of Levels, which is -42 dBFS.
const audible = 0.3

func newDialogState(hook func(from view.State, e view.Event, to view.State)) dialogState {
	return dialogState{model: &view.Model{Confirmed: view.Closed{}}, hook: hook}
}

// confirmed returns what the server has said.
func (f *dialogState) confirmed() view.Open { return open(f.model.Confirmed) }

// predicted returns the state that the server will confirm if every input of this client has its expected effect.
func (f *dialogState) predicted() view.Open {
	o := open(f.model.Replay())
	if f.unwanted {
		o.Waiting = 0
	}
	if f.pushToTalk && o.Speech == 0 {
		o.Speech = view.ForeseenTurn
	}
	return o
}

func open(s view.State) view.Open {
	o, _ := s.(view.Open)
	return o
}

// tell takes an event of the server. answers is the input that the event answers; 0 for none.
func (f *dialogState) tell(e view.Told, answers view.Seq) {
	before := f.model.Confirmed
	f.model.Take(e, answers)
	f.tidy()
	f.hook(before, e, f.model.Confirmed)
}

// expect notes an input of this client before its message is sent. It returns the number of the input; 0 when too many inputs
// wait already, and then the input is not predicted. wait is how long the server may take to answer.
func (f *dialogState) expect(in view.Input, item string, wait, now time.Duration) view.Seq {
	before := f.model.Replay()
	seq := f.model.Expect(in)
	if !f.model.Awaits(seq) {
		return 0 // too many inputs wait: this one is not predicted
	}
	f.expected = append(f.expected, expected{seq: seq, input: in, item: item, since: now, wait: wait})
	f.hook(before, in, f.model.Replay())
	return seq
}

// drop gives up the expected effect of an input.
func (f *dialogState) drop(seq view.Seq) {
	f.model.Forget(seq)
	f.tidy()
}

// refuse notes that the server has refused an input.
func (f *dialogState) refuse(seq view.Seq) { f.tell(view.Refused{}, seq) }

// dropAnswers gives up every input that expects a response.
func (f *dialogState) dropAnswers() {
	for _, e := range f.expected {
		if asks(e.input) {
			f.model.Forget(e.seq)
		}
	}
	f.tidy()
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

// tidy forgets the inputs that the server has answered.
func (f *dialogState) tidy() {
	left := f.expected[:0]
	for _, e := range f.expected {
		if f.model.Awaits(e.seq) {
			left = append(left, e)
		}
	}
	f.expected = left
}

// shown returns the state that a snapshot shows during a call. tools says that the application is answering a tool call.
func (f *dialogState) shown(o view.Open, tools bool) State {
	switch {
	case o.Speech != 0:
		return UserSpeaking
	case o.Sound != 0:
		return AgentSpeaking
	case o.Live != 0 || o.Waiting != 0 || f.stopped != 0 || tools:
		return Thinking
	}
	return Listening
}

// idle reports whether nobody speaks and no response is due, so that the client may ask for one.
func (f *dialogState) idle() bool {
	o := f.predicted()
	return o.Speech == 0 && o.Waiting == 0 && o.Live == 0 && f.stopped == 0 && f.confirmed().Live == 0
}

// answerDue reports whether a response is due that has not begun.
func (f *dialogState) answerDue() bool {
	for _, e := range f.expected {
		if asks(e.input) {
			return true
		}
	}
	return f.confirmed().Waiting != 0
}

// live returns the id of the response that the server is making; "" when it makes none, or one without an id.
func (f *dialogState) live() string { return f.responses.name(uint64(f.confirmed().Live)) }

// item returns the item of the present turn; "" when there is none.
func (f *dialogState) item() string {
	o := f.confirmed()
	switch {
	case o.Speech != 0:
		return f.turns.name(uint64(o.Speech))
	case f.stopped != 0:
		return f.turns.name(uint64(f.stopped))
	}
	return f.turns.name(uint64(o.Waiting))
}

func (f *dialogState) turn(item string) id.Turn         { return id.Turn(f.turns.number(item)) }
func (f *dialogState) response(name string) id.Response { return id.Response(f.responses.number(name)) }

// isLive reports whether the server is making this response now.
func (f *dialogState) isLive(name string) bool {
	live := f.confirmed().Live
	return live != 0 && uint64(live) == f.responses.find(name)
}

func (f *dialogState) speaking() bool { return f.confirmed().Speech != 0 }
func (f *dialogState) sounding() bool { return f.confirmed().Sound != 0 }
func (f *dialogState) speechStarted(item string, now time.Duration) {
	f.stopped, f.unwanted, f.turnSignAt, f.speechBeganAt = 0, false, now, now
	f.tell(view.SpeechStarted{Turn: f.turn(item)}, 0)
}

// speechStopped notes the end of speech. answered says that the server will answer the turn by itself.
func (f *dialogState) speechStopped(item string, answered bool, now time.Duration) {
	turn := f.turn(item)
	if f.confirmed().Speech == turn && answered {
		f.stopped, f.turnSignAt = turn, now
	}
	f.tell(view.SpeechStopped{Turn: turn}, 0)
}

// committed notes that the server has committed a turn. byClient says that this client asked for the commit.
func (f *dialogState) committed(item string, byClient bool, now time.Duration) {
	turn := f.turn(item)
	if f.confirmed().Speech == turn {
		f.tell(view.SpeechStopped{Turn: turn}, 0) // the server left this event out
	}
	if f.stopped == turn {
		f.stopped = 0
	}
	f.turnSignAt = now
	f.tell(view.Committed{Turn: turn, ByClient: byClient}, 0)
}

// dropTurn ends the turn of this item if it is the present one.
func (f *dialogState) dropTurn(item string) {
	if item != "" && f.item() == item {
		f.endTurn()
	}
}

// endTurn ends the present turn without an answer.
func (f *dialogState) endTurn() {
	o := f.confirmed()
	f.stopped = 0
	if o.Speech != 0 {
		f.tell(view.SpeechStopped{Turn: o.Speech}, 0)
	}
	if o.Waiting != 0 {
		f.tell(view.Transcribed{Turn: o.Waiting, Empty: true}, 0)
	}
}

func (f *dialogState) responseCreated(name string, now time.Duration) {
	f.responseSignAt = now
	f.tell(view.Created{Resp: f.response(name)}, 0)
}

func (f *dialogState) responseDone(name string, now time.Duration) {
	f.soundSignAt, f.soundBeganAt = now, now
	f.tell(view.Done{Resp: f.response(name)}, 0)
}

func (f *dialogState) soundStarted(name string, now time.Duration) {
	f.sound, f.soundSignAt, f.soundBeganAt = name, now, now
	f.tell(view.Started{Resp: f.response(name)}, 0)
}

// soundEnded notes that the playback of a response has ended, or was cut. An empty name means whichever response is heard. It
// returns false when another response is heard, or none.
func (f *dialogState) soundEnded(name string, cut bool) bool {
	o := f.confirmed()
	if o.Sound == 0 || name != "" && f.sound != "" && f.sound != name {
		return false
	}
	f.sound = ""
	if cut {
		f.tell(view.Cleared{Resp: o.Sound}, 0)
	} else {
		f.tell(view.Stopped{Resp: o.Sound}, 0)
	}
	return true
}
