package playout

// The machine's stories (testdata/*.txt), its diagram and its benchmark.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

func TestStories(t *testing.T) { coordtest.Stories(t, subject) }

func TestDiagram(t *testing.T) { coordtest.Diagram(t, Table, subject.First) }

func BenchmarkNext(b *testing.B) {
	coordtest.Bench(b, Table,
		coordtest.Case[State, Event, Effect]{From: Silent{}, Event: Begin{1, 2}, Switch: byHand},
		coordtest.Case[State, Event, Effect]{From: Terminated{}, Event: Shutdown{}, Switch: byHand})
}

// byHand is the timed transitions as a plain switch.
func byHand(s State, e Event) (State, []Effect) {
	switch s := s.(type) {
	case Silent:
		if e, ok := e.(Begin); ok && e.Candidate != 0 {
			return Held{Resp: e.Resp, Candidate: e.Candidate, Gen: s.Gen}, []Effect{Hold{e.Resp}}
		}
	case Playing, Held, Cut, Terminated:
	}
	return s, nil
}
