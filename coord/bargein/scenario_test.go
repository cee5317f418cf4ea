package bargein

// The machine's stories (testdata/*.txt), its diagram and its benchmark.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

func TestStories(t *testing.T) { coordtest.Stories(t, subject) }

func TestDiagram(t *testing.T) { coordtest.Diagram(t, Table, subject.First) }

func BenchmarkNext(b *testing.B) {
	coordtest.Bench(b, Table,
		coordtest.Case[State, Event, Effect]{From: Silent{}, Event: Began{1}, Switch: byHand},
		coordtest.Case[State, Event, Effect]{From: Closed{}, Event: Close{}, Switch: byHand})
}

// byHand is the timed transitions as a plain switch.
func byHand(s State, e Event) (State, []Effect) {
	switch s := s.(type) {
	case Silent:
		if e, ok := e.(Began); ok && e.Resp > s.Last {
			return Playing(e), nil
		}
	case Playing, Ducked, Silenced, Restored, Unanswered, Closed:
	}
	return s, nil
}
