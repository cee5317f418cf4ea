package sdk

import "time"

// flow is who has the floor, as the server's events tell it. Three small states, one for each of the server's machines
// that a client can see (turn, response, playout), and the times that their deadlines count from.
//
// It is the client's confirmed state. A prediction is a second flow: this one with the unacknowledged inputs replayed.
type flow struct {
	turn  turnState
	item  string        // the turn's item; "" in turnNone, and when an answer was asked for without one
	since time.Duration // when the turn came to its state, or last gave a sign

	response string // the live response; "" when none is
	dying    bool   // its end was asked for
	alive    time.Duration

	sound    string // the response that is heard; "" when none is
	sounding bool   // a server may leave the response's id away
	heard    time.Duration
	metered  time.Duration // when levels were told last: only then silence can be told from sound
}

// turnState is how far the person's turn has come.
type turnState uint8

const (
	turnNone     turnState = iota
	turnSpeaking           // speech_started was told
	turnStopped            // speech_stopped was told, the turn is not taken in yet
	turnOwed               // taken in (or written): an answer is owed
)

// audible is the level above which somebody may be speaking: -42 dBFS.
const audible = 0.3

func (f *flow) speechStarted(item string, now time.Duration) {
	f.turn, f.item, f.since = turnSpeaking, item, now
}

// speechStopped: answered says whether the server will answer the turn by itself.
func (f *flow) speechStopped(item string, answered bool, now time.Duration) {
	switch {
	case f.turn != turnSpeaking || f.item != item:
	case answered:
		f.turn, f.since = turnStopped, now
	default:
		f.endTurn()
	}
}

func (f *flow) committed(item string, answered bool, now time.Duration) {
	mine := f.turn == turnNone || f.item == item
	switch {
	case !mine:
	case answered:
		f.owe(item, now)
	default:
		f.endTurn()
	}
}

// owe: the server owes an answer.
func (f *flow) owe(item string, now time.Duration) {
	f.turn, f.item, f.since = turnOwed, item, now
}

func (f *flow) endTurn() {
	f.turn, f.item = turnNone, ""
}

// dropTurn ends the turn of this item, if it is the present one.
func (f *flow) dropTurn(item string) {
	if f.turn != turnNone && f.item == item {
		f.endTurn()
	}
}

func (f *flow) responseCreated(id string, now time.Duration) {
	if f.turn == turnOwed {
		f.endTurn()
	}
	f.response, f.dying, f.alive = id, false, now
}

func (f *flow) responseDone(id string, now time.Duration) {
	if f.response == id {
		f.response = ""
		f.heard = now
	}
}

func (f *flow) soundStarted(response string, now time.Duration) {
	f.sounding, f.sound, f.heard = true, response, now
}

// soundEnded reports whether it was this response that was heard.
func (f *flow) soundEnded(response string) bool {
	if !f.sounding || (response != "" && f.sound != "" && f.sound != response) {
		return false
	}
	f.sounding, f.sound = false, ""
	return true
}

// sign: the server has said something.
func (f *flow) sign(now time.Duration) {
	f.alive, f.heard = now, now
	if f.turn != turnNone {
		f.since = now
	}
}

// levels are signs of life of whoever is heard.
func (f *flow) levels(l Levels, now time.Duration) {
	f.metered = now
	if l.Agent > audible {
		f.heard, f.alive = now, now
	}
	if l.Mic > audible && f.turn == turnSpeaking {
		f.since = now
	}
}

// state is what to show while a call is on. tools: the application is answering the agent.
func (f *flow) state(tools bool) State {
	switch {
	case f.turn == turnSpeaking:
		return UserSpeaking
	case f.sounding:
		return AgentSpeaking
	case f.response != "" && !f.dying || f.turn == turnStopped || f.turn == turnOwed || tools:
		return Thinking
	}
	return Listening
}

// idle reports whether nobody has the floor and no answer is due, so that one may be asked for.
func (f *flow) idle() bool { return f.turn == turnNone && f.response == "" }

// The deadlines are the moments at which a state has waited too long for somebody else; Never when it waits for nobody.

func (f *flow) turnDeadline(l *Limits) time.Duration {
	switch f.turn {
	case turnNone:
		return Never
	case turnSpeaking:
		return f.since + l.TurnSilence
	case turnStopped:
		return f.since + l.Commit
	case turnOwed:
		return f.since + l.AnswerStart
	}
	return Never
}

func (f *flow) responseDeadline(l *Limits) time.Duration {
	if f.response == "" {
		return Never
	}
	return f.alive + l.AnswerSilence
}

// soundDeadline holds only when the reply is made.
func (f *flow) soundDeadline(l *Limits) time.Duration {
	if !f.sounding || f.response != "" {
		return Never
	}
	return f.heard + l.SoundSilence
}

// meteredLag is how old the last levels may be. They come some 20 times a second, once a second in a page that is hidden.
const meteredLag = 2 * time.Second

// unheard puts off the deadlines that silence decides.
func (f *flow) unheard(now time.Duration) {
	f.heard = now
	if f.turn == turnSpeaking {
		f.since = now
	}
}

// deaf: nobody measures the levels (any more), so no silence can be told from sound, and the server is believed.
func (f *flow) deaf(now time.Duration) bool {
	return f.metered == 0 || now-f.metered > meteredLag
}
