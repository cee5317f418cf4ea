package sdk

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/coord/view"
)

// dialogState is who has the floor. What the server has said and what is expected beyond it is coord/view's; here is what a view
// leaves to its driver: names, the turn that is between its end and the server's word for it, and all deadlines.
type dialogState struct {
	model *view.Model
	// turns and responses number what the protocol names.
	turns, responses idNumbers
	expected         []expected // of the inputs that wait for their answer. Invariant: len <= view.Most
	hook             func(from view.State, e view.Event, to view.State)

	stopped       id.Turn       // its speech has stopped, and the server is about to take it in; 0 is none
	turnSignAt    time.Duration // when the turn came to its state, or last gave a sign
	speechBeganAt time.Duration // when its speech began
	pushToTalk    bool          // push-to-talk: nobody but the client knows
	unwanted      bool          // the answer that is owed was interrupted before it began

	responseSignAt time.Duration // when the live response last gave a sign
	sound          string        // the response that is heard; "" where the server leaves its id away, and when none is
	soundSignAt    time.Duration // when the sound last gave a sign
	soundBeganAt   time.Duration // when what sounds began to, or was made
	meteredAt      time.Duration // when levels were told last: only then silence can be told from sound
	maxUnmeasured  time.Duration // Limits.Unmeasured
}

// expected is what was done here and is not answered yet: its default verdict is that nothing came of it.
type expected struct {
	seq   view.Seq
	input view.Input
	item  string // that it is about; may be empty
	since time.Duration
	wait  time.Duration
}

// audible is the level above which somebody may be speaking: -42 dBFS.
const audible = 0.3

func newDialogState(hook func(from view.State, e view.Event, to view.State)) dialogState {
	return dialogState{model: &view.Model{Confirmed: view.Closed{}}, hook: hook}
}

// confirmed is what the server has said.
func (f *dialogState) confirmed() view.Open { return open(f.model.Confirmed) }

// predicted is what that comes to when all that was done here does what is expected of it.
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

// tell takes what the server has said. answers is the input that it names, or 0.
func (f *dialogState) tell(e view.Told, answers view.Seq) {
	before := f.model.Confirmed
	f.model.Take(e, answers)
	f.tidy()
	f.hook(before, e, f.model.Confirmed)
}

// expect takes what is done here, before its message is sent.
func (f *dialogState) expect(in view.Input, item string, wait, now time.Duration) view.Seq {
	before := f.model.Replay()
	seq := f.model.Expect(in)
	if !f.model.Awaits(seq) {
		return 0 // too much waits already: this is not predicted
	}
	f.expected = append(f.expected, expected{seq: seq, input: in, item: item, since: now, wait: wait})
	f.hook(before, in, f.model.Replay())
	return seq
}

// drop gives an expectation up.
func (f *dialogState) drop(seq view.Seq) {
	f.model.Forget(seq)
	f.tidy()
}

// refuse takes the server's word that nothing comes of what was asked for.
func (f *dialogState) refuse(seq view.Seq) { f.tell(view.Refused{}, seq) }

// dropAnswers gives up all that expects an answer.
func (f *dialogState) dropAnswers() {
	for _, e := range f.expected {
		if asks(e.input) {
			f.model.Forget(e.seq)
		}
	}
	f.tidy()
}

func asks(in view.Input) bool {
	switch in.(type) {
	case view.Write, view.Ask, view.Commit:
		return true
	case view.Candidate, view.Interrupt, view.Cancel, view.Clear:
	}
	return false
}

// tidy forgets what is answered.
func (f *dialogState) tidy() {
	left := f.expected[:0]
	for _, e := range f.expected {
		if f.model.Awaits(e.seq) {
			left = append(left, e)
		}
	}
	f.expected = left
}

// shown is what to show while a call is on. tools: the application is answering the agent.
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

// idle reports whether nobody has the floor and no answer is due, so that one may be asked for.
func (f *dialogState) idle() bool {
	o := f.predicted()
	return o.Speech == 0 && o.Waiting == 0 && o.Live == 0 && f.stopped == 0 && f.confirmed().Live == 0
}

// answerDue: an answer is due that has not begun.
func (f *dialogState) answerDue() bool {
	for _, e := range f.expected {
		if asks(e.input) {
			return true
		}
	}
	return f.confirmed().Waiting != 0
}

// live is the response that the server makes; "" when it makes none, or one without an id.
func (f *dialogState) live() string { return f.responses.name(uint64(f.confirmed().Live)) }

// item is the present turn's; "" when there is none.
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

// isLive reports whether the server makes this response now.
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

// speechStopped: answered says whether the server will answer the turn by itself.
func (f *dialogState) speechStopped(item string, answered bool, now time.Duration) {
	turn := f.turn(item)
	if f.confirmed().Speech == turn && answered {
		f.stopped, f.turnSignAt = turn, now
	}
	f.tell(view.SpeechStopped{Turn: turn}, 0)
}

// committed: the server has taken a turn in. byClient: because it was asked to.
func (f *dialogState) committed(item string, byClient bool, now time.Duration) {
	turn := f.turn(item)
	if f.confirmed().Speech == turn {
		f.tell(view.SpeechStopped{Turn: turn}, 0) // it was left out
	}
	if f.stopped == turn {
		f.stopped = 0
	}
	f.turnSignAt = now
	f.tell(view.Committed{Turn: turn, ByClient: byClient}, 0)
}

// dropTurn ends the turn of this item, if it is the present one.
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

// soundEnded reports whether it was this response that was heard; "" is any.
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
