package run

// The machine's stories (testdata/*.txt), its diagram and its benchmark.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

func TestStories(t *testing.T) { coordtest.Stories(t, subject) }

func TestDiagram(t *testing.T) { coordtest.Diagram(t, Table, subject.First) }

func BenchmarkNext(b *testing.B) {
	coordtest.Bench(b, Table,
		coordtest.Case[State, Event, Effect]{From: Queued{}, Event: TurnStarted{1, now}, Switch: byHand},
		coordtest.Case[State, Event, Effect]{From: Canceled{}, Event: Resume{1}, Switch: byHand})
}

// byHand is the timed transitions as a plain switch.
func byHand(s State, e Event) (State, []Effect) {
	switch s := s.(type) {
	case Queued:
		if e, ok := e.(TurnStarted); ok && e.Attempt == s.Attempt+1 {
			return start(s, e)
		}
	case Running, WaitingUser, Succeeded, Failed, Canceled:
	}
	return s, nil
}
