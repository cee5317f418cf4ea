package view

// The client's model: the confirmed state, the inputs that the server has not answered, and the predicted state.

// Most is how many inputs are pending at most. A person does not do more within a round trip; a program that does is
// not predicted.
const Most = 16

// Seq numbers inputs, from 1; 0 is none.
type Seq uint64

// Model is what is confirmed and what the client has done since. It is a value that can be copied and compared. Expect, Take
// and Forget change it in place; With, Hear and Drop do the same to a copy, as an explorer wants it. The zero value is not
// valid, New makes the first one.
type Model struct {
	// Confirmed is what the server has said.
	Confirmed State
	pending   [Most]pending // n of them, the oldest first
	n         uint8
	last      Seq
}

type pending struct {
	seq   Seq
	input Input
}

// New is a model of a session of which nothing was heard.
func New() Model { return Model{Confirmed: Closed{}} }

// With is the model after an input, and its number: see Expect.
func (m Model) With(in Input) (Model, Seq) {
	seq := m.Expect(in)
	return m, seq
}

// Hear is the model after what the server has said: see Take.
func (m Model) Hear(e Told, answers Seq) Model {
	m.Take(e, answers)
	return m
}

// Drop is the model without the input seq: see Forget.
func (m Model) Drop(seq Seq) Model {
	m.Forget(seq)
	return m
}

// Predicted is what the session comes to when all pending inputs do what is expected of them.
func (m Model) Predicted() State { return m.Replay() }

// Expect takes an input and gives its number. Where Most are pending already the input is not predicted, and its number is
// one that is answered already.
func (m *Model) Expect(in Input) Seq {
	m.last++
	if m.n < Most {
		p := &m.pending[m.n]
		p.seq, p.input = m.last, in
		m.n++
	}
	return m.last
}

// Take takes what the server has said. answers is the input that e names, or 0. That one is no longer pending, and neither
// is one whose result e is.
func (m *Model) Take(e Told, answers Seq) {
	m.Confirmed = Next(m.Confirmed, e)
	if m.n == 0 {
		return
	}
	switch e.(type) {
	case SpeechStarted: // the verdict on all candidates there are
		m.without(is[Candidate])
	case Rejected:
		m.without(is[Candidate])
		m.without(is[Interrupt])
	case Created:
		m.withoutFirst(is[Write])
		m.withoutFirst(is[Ask])
	case Committed:
		m.withoutFirst(is[Commit])
	case Done:
		m.withoutFirst(is[Cancel])
	case Ended:
		clear(m.pending[:])
		m.n = 0
	case Cleared:
		m.withoutFirst(is[Clear])
	case Opened, Configured, SpeechStopped, Transcribed, Started, Stopped, Refused:
	}
	if o, open := m.Confirmed.(Open); open && o.Speech != 0 && !o.busy() {
		m.without(is[Interrupt]) // it is done
	}
	m.Forget(answers)
}

// Forget ends the wait for the input seq: after its deadline, or after an answer to it that is no event of a view. Nothing is
// expected of it any more. What is not pending changes nothing.
func (m *Model) Forget(seq Seq) {
	for i := range m.pending[:m.n] {
		if m.pending[i].seq == seq {
			m.cut(i)
			return
		}
	}
}

// Replay is Predicted.
func (m *Model) Replay() State {
	s := m.Confirmed
	for i := range m.pending[:m.n] {
		s = Next(s, m.pending[i].input)
	}
	return s
}

// Pending is how many inputs wait for their answer.
func (m Model) Pending() int { return int(m.n) }

// Awaits says whether the input seq waits for its answer.
func (m *Model) Awaits(seq Seq) bool {
	for i := range m.pending[:m.n] {
		if m.pending[i].seq == seq {
			return true
		}
	}
	return false
}

// AwaitsCommit says whether a Commit waits for its answer: to a server that does not name the cause of a committed turn,
// this is it.
func (m *Model) AwaitsCommit() bool { return m.first(is[Commit]) >= 0 }

func is[T Input](in Input) bool { _, ok := in.(T); return ok }

// first is the place of the oldest pending input of a kind, or -1.
func (m *Model) first(kind func(Input) bool) int {
	for i := range m.pending[:m.n] {
		if kind(m.pending[i].input) {
			return i
		}
	}
	return -1
}

func (m *Model) withoutFirst(kind func(Input) bool) {
	if i := m.first(kind); i >= 0 {
		m.cut(i)
	}
}

func (m *Model) without(kind func(Input) bool) {
	for i := m.first(kind); i >= 0; i = m.first(kind) {
		m.cut(i)
	}
}

// cut takes the pending input at i out.
func (m *Model) cut(i int) {
	m.n--
	copy(m.pending[i:], m.pending[i+1:])
	m.pending[m.n] = pending{}
}
