package compaction

// The machine's stories (testdata/*.txt), its diagram and its benchmark.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

func TestStories(t *testing.T) { coordtest.Stories(t, subject) }

func TestDiagram(t *testing.T) { coordtest.Diagram(t, Table, subject.First) }

func BenchmarkNext(b *testing.B) {
	coordtest.Bench(b, Table,
		coordtest.Case[State, Event, Effect]{From: Idle{}, Event: Trigger{}, Switch: byHand},
		coordtest.Case[State, Event, Effect]{From: Terminated{}, Event: Shutdown{}, Switch: byHand})
}

// byHand is the timed transitions as a plain switch.
func byHand(s State, e Event) (State, []Effect) {
	switch s := s.(type) {
	case Idle:
		if _, ok := e.(Trigger); ok {
			return Running{Gen: s.Gen + 1}, []Effect{Start{s.Gen + 1}}
		}
	case Running, Terminated:
	}
	return s, nil
}
