package view

// Tests of the client's model with random sequences of inputs and server events.

import (
	"fmt"
	"slices"
	"testing"

	"github.com/onsi/gomega"
)

// op is one thing that is done to a model: exactly one of its fields counts.
type op struct {
	with Input
	told Told
	seq  Seq // answered by told, or dropped
}

func (o op) String() string {
	switch {
	case o.with != nil:
		return o.with.Name()
	case o.told != nil:
		return fmt.Sprintf("%s %+v answers %d", o.told.Name(), o.told, o.seq)
	}
	return fmt.Sprint("drop ", o.seq)
}

func (o op) do(m Model) Model {
	switch {
	case o.with != nil:
		m, _ = m.With(o.with)
	case o.told != nil:
		m = m.Hear(o.told, o.seq)
	default:
		m = m.Drop(o.seq)
	}
	return m
}

// modelInvariants are those of the package comment, but ConfirmedIsProjection, which is about a server too.
var modelInvariants = []struct {
	name  string
	holds func(before Model, o op, after Model, predicted State) bool
}{
	{"PredictedIsReplay", func(_ Model, _ op, m Model, predicted State) bool {
		s := m.Confirmed
		for _, p := range m.pending {
			if p.input != nil {
				s = Next(s, p.input)
			}
		}
		return predicted == s
	}},
	{"ConfirmedNeverGuesses", func(before Model, o op, m Model, _ State) bool {
		want := before.Confirmed
		if o.told != nil {
			want = Next(want, o.told)
		}
		return m.Confirmed == want && !Guesses(m.Confirmed)
	}},
	{"AcknowledgedOnce", func(before Model, o op, m Model, _ State) bool {
		if o.with != nil {
			return m.last == before.last+1 && (m.Awaits(m.last) || before.Pending() == Most) && !before.Awaits(m.last)
		}
		was, is := numbers(before), numbers(m)
		kept := slices.DeleteFunc(slices.Clone(was), func(s Seq) bool { return !slices.Contains(is, s) })
		gone := slices.DeleteFunc(slices.Clone(was), func(s Seq) bool { return slices.Contains(is, s) })
		return m.last == before.last && slices.Equal(kept, is) && (o.seq == 0 || !slices.Contains(is, o.seq)) &&
			!slices.ContainsFunc(gone, func(s Seq) bool { return s != o.seq && !isResult(o.told, before.inputOf(s), m.Confirmed) })
	}},
	{"QuietIsEqual", func(_ Model, _ op, m Model, predicted State) bool {
		return m.Pending() > 0 || predicted == m.Confirmed
	}},
	{"Bounded", func(_ Model, _ op, m Model, _ State) bool {
		for i, p := range m.pending {
			if (p == pending{}) != (i >= m.Pending()) {
				return false
			}
		}
		return m.Pending() <= Most
	}},
}

func numbers(m Model) []Seq {
	var out []Seq
	for _, p := range m.pending[:m.n] {
		out = append(out, p.seq)
	}
	return out
}

func (m Model) inputOf(s Seq) Input {
	for _, p := range m.pending {
		if p.seq == s {
			return p.input
		}
	}
	return nil
}

// isResult says whether e, after which the session is s, may be what has become of an input.
func isResult(e Told, in Input, s State) bool {
	if _, ended := e.(Ended); ended {
		return true
	}
	of := map[string][]string{
		"Candidate": {"SpeechStarted", "Rejected"}, "Interrupt": {"Rejected"}, "Write": {"Created"}, "Ask": {"Created"},
		"Commit": {"Committed"}, "Cancel": {"Done"}, "Clear": {"Cleared"},
	}
	o, open := s.(Open)
	done := in == Input(Interrupt{}) && open && o.Speech != 0 && o.Live == 0 && o.Sound == 0
	return e != nil && (done || slices.Contains(of[in.Name()], e.Name()))
}

// ops is all that may happen to a model: what a server with one turn and one response says, answers to any input, deadlines.
func ops(inputsUpTo Seq) func(Model) []op {
	told := []Told{
		Opened{true, true},
		Configured{},
		SpeechStarted{1},
		SpeechStopped{1},
		Committed{Turn: 1},
		Committed{1, true},
		Transcribed{1, true},
		Created{1},
		Done{1},
		Started{1},
		Stopped{1},
		Cleared{1},
		Rejected{},
		Ended{},
	}
	return func(m Model) []op {
		var out []op
		for _, e := range told {
			out = append(out, op{told: e})
		}
		for s := Seq(1); s <= inputsUpTo; s++ {
			out = append(out, op{told: Refused{}, seq: s}, op{told: Rejected{}, seq: s}, op{seq: s})
		}
		for _, in := range inputs {
			if m.last < inputsUpTo {
				out = append(out, op{with: in})
			}
		}
		return out
	}
}

// exploreModel walks all models and returns how many there are, and what does not hold. do and predicted are those of a
// model, or of one that goes wrong.
func exploreModel(may func(Model) []op, do func(op, Model) Model, predicted func(Model) State) (models, steps int, broken map[string]string) {
	broken = map[string]string{}
	queue := []Model{New()}
	seen := map[Model]bool{queue[0]: true}
	for len(queue) > 0 {
		before := queue[0]
		queue = queue[1:]
		for _, o := range may(before) {
			after := do(o, before)
			steps++
			for _, inv := range modelInvariants {
				if _, known := broken[inv.name]; !known && !inv.holds(before, o, after, predicted(after)) {
					broken[inv.name] = fmt.Sprintf("%v: %+v -> %+v", o, before, after)
				}
			}
			if !seen[after] {
				seen[after] = true
				queue = append(queue, after)
			}
		}
	}
	return len(seen), steps, broken
}

func TestModel(t *testing.T) {
	models, steps, broken := exploreModel(ops(2), op.do, Model.Predicted)
	t.Logf("%d models, %d steps", models, steps)
	g := gomega.NewWithT(t)
	g.Expect(broken).To(gomega.BeEmpty())
	g.Expect(models).To(gomega.BeNumerically(">", 1000))
}

// TestModelInvariantsBite: each sees one model that goes wrong.
func TestModelInvariantsBite(t *testing.T) {
	forgets := func(m Model) State { return m.Confirmed }
	clings := func(m Model) State { return Next(m.Predicted(), Write{}) }
	guesses := func(o op, m Model) Model {
		if m = o.do(m); o.with != nil {
			m.Confirmed = Next(m.Confirmed, o.with)
		}
		return m
	}
	drops := func(o op, m Model) Model {
		if m = o.do(m); o.told != nil && o.told.Name() == "Created" {
			m.pending, m.n = [Most]pending{}, 0
		}
		return m
	}
	leaves := func(o op, m Model) Model {
		m = o.do(m)
		m.pending[Most-1] = pending{1, Clear{}}
		return m
	}
	for name, wrong := range map[string]struct {
		do        func(op, Model) Model
		predicted func(Model) State
	}{
		"PredictedIsReplay": {op.do, forgets}, "QuietIsEqual": {op.do, clings}, "ConfirmedNeverGuesses": {guesses, Model.Predicted},
		"AcknowledgedOnce": {drops, Model.Predicted}, "Bounded": {leaves, Model.Predicted},
	} {
		_, _, broken := exploreModel(ops(1), wrong.do, wrong.predicted)
		gomega.NewWithT(t).Expect(broken).To(gomega.HaveKey(name))
	}
}

// TestModelIsBounded: one input more than Most is not predicted, and answers as every other.
func TestModelIsBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	m := New().Hear(Opened{}, 0)
	for range Most {
		m, _ = m.With(Write{})
	}
	g.Expect(m.Pending()).To(gomega.Equal(Most))
	full, seq := m.With(Ask{})
	g.Expect(full.Pending()).To(gomega.Equal(Most))
	g.Expect(full.Awaits(seq)).To(gomega.BeFalse())
	g.Expect(full.Predicted()).To(gomega.Equal(m.Predicted()))
	g.Expect(full.Hear(Refused{}, seq)).To(gomega.Equal(full))
	g.Expect(full.Hear(Ended{}, 0).Pending()).To(gomega.BeZero())
}

// TestModelTellsCommits: who waits for a commit can tell.
func TestModelTellsCommits(t *testing.T) {
	g := gomega.NewWithT(t)
	m := New().Hear(Opened{Answers: true}, 0)
	g.Expect(m.AwaitsCommit()).To(gomega.BeFalse())
	m, _ = m.With(Commit{})
	g.Expect(m.AwaitsCommit()).To(gomega.BeTrue())
	g.Expect(m.Predicted()).To(gomega.Equal(State(Open{Answers: true, Waiting: ForeseenTurn})))
	m = m.Hear(Committed{Turn: 1, ByClient: true}, 0)
	g.Expect(m.AwaitsCommit()).To(gomega.BeFalse())
	g.Expect(m.Predicted()).To(gomega.Equal(m.Confirmed))
}

// FuzzModel does to a model what the bytes say: more inputs than there is room for, answers to all of them.
func FuzzModel(f *testing.F) {
	f.Add([]byte{0, 20, 21, 22, 23, 24, 25, 26, 7, 9})
	f.Fuzz(func(t *testing.T, script []byte) {
		m := New()
		for i, b := range script {
			all := ops(Seq(i + 1))(m)
			o := all[int(b)%len(all)]
			after := o.do(m)
			for _, inv := range modelInvariants {
				if !inv.holds(m, o, after, after.Predicted()) {
					t.Fatalf("%s: %v: %+v -> %+v", inv.name, o, m, after)
				}
			}
			m = after
		}
	})
}

func BenchmarkModel(b *testing.B) {
	m := New().Hear(Opened{true, true}, 0).Hear(Created{1}, 0).Hear(Started{1}, 0)
	for _, in := range []Input{Candidate{}, Interrupt{}, Commit{}, Ask{}} {
		m, _ = m.With(in)
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Hear(SpeechStarted{1}, 0).Predicted()
	}
}
