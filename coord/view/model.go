package view

// The client's model: the confirmed state, the inputs that the server has not answered, and the predicted state.

// Most is the largest number of pending inputs. A user does not do more within a round trip. If a program does, its further inputs are
// not predicted.
const Most = 16

// Seq numbers inputs, from 1; 0 is none.
type Seq uint64

// Model has the confirmed state and the client's pending inputs. It is a value that can be copied and compared. Expect, Take and Forget
// change it in place. With, Hear and Drop return a changed copy, for an exploration. The zero value is not valid: New returns a first model.
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

// New returns the model of a session of which no event has come.
func New() Model { return Model{Confirmed: Closed{}} }

// With returns a copy of the model after an input, and the input's number: see Expect.
func (m Model) With(in Input) (Model, Seq) {
	seq := m.Expect(in)
	return m, seq
}

// Hear returns a copy of the model after an event of the server: see Take.
func (m Model) Hear(e Told, answers Seq) Model {
	m.Take(e, answers)
	return m
}

// Drop returns a copy of the model without the input seq: see Forget.
func (m Model) Drop(seq Seq) Model {
	m.Forget(seq)
	return m
}

// Predicted returns the predicted state: the confirmed state after all pending inputs have had the effect that the client expects.
func (m Model) Predicted() State { return m.Replay() }

// Expect adds an input and returns its number. If Most inputs are pending already, the input is not predicted, and counts as answered.
func (m *Model) Expect(in Input) Seq {
	m.last++
	if m.n < Most {
		p := &m.pending[m.n]
		p.seq, p.input = m.last, in
		m.n++
	}
	return m.last
}

// Take applies an event of the server. answers is the input that e answers, or 0. This input is no longer pending, and neither is an input
// whose result e is.
func (m *Model) Take(e Told, answers Seq) {
	m.Confirmed = Next(m.Confirmed, e)
	if m.n == 0 {
		return
	}
	switch e.(type) {
	case SpeechStarted: // it is the verdict on all candidates
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
		m.without(is[Interrupt]) // the interruption has happened
	}
	m.Forget(answers)
}

// Forget removes the input seq: after its deadline, or after an answer to it that is no Told. It changes nothing if the input is not pending.
func (m *Model) Forget(seq Seq) {
	for i := range m.pending[:m.n] {
		if m.pending[i].seq == seq {
			m.cut(i)
			return
		}
	}
}

// Replay returns the predicted state, see Predicted.
func (m *Model) Replay() State {
	s := m.Confirmed
	for i := range m.pending[:m.n] {
		s = Next(s, m.pending[i].input)
	}
	return s
}

// Pending returns how many inputs wait for their answer.
func (m Model) Pending() int { return int(m.n) }

// Awaits reports whether the input seq waits for its answer.
func (m *Model) Awaits(seq Seq) bool {
	for i := range m.pending[:m.n] {
		if m.pending[i].seq == seq {
			return true
		}
	}
	return false
}

// AwaitsCommit reports whether a Commit waits for its answer. If a server does not say why a turn was committed, the client takes such a
// Commit for the reason.
func (m *Model) AwaitsCommit() bool { return m.first(is[Commit]) >= 0 }

func is[T Input](in Input) bool { _, ok := in.(T); return ok }

// first returns the index of the oldest pending input of a kind, or -1.
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

// cut removes the pending input at index i.
func (m *Model) cut(i int) {
	m.n--
	copy(m.pending[i:], m.pending[i+1:])
	m.pending[m.n] = pending{}
}
