package turn

// The machine's stories (testdata/*.txt), its diagram and its benchmark.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

func TestStories(t *testing.T) { coordtest.Stories(t, subject) }

func TestDiagram(t *testing.T) { coordtest.Diagram(t, Table, subject.First) }

func BenchmarkNext(b *testing.B) {
	coordtest.Bench(b, Table,
		coordtest.Case[State, Event, Effect]{From: Idle{}, Event: Onset{1, true}, Switch: byHand},
		coordtest.Case[State, Event, Effect]{From: Confirming{}, Event: FallbackExpired{}, Switch: byHand})
}

// byHand is the timed transitions as a plain switch.
func byHand(s State, e Event) (State, []Effect) {
	switch s.(type) {
	case Idle:
		if e, ok := e.(Onset); ok && e.AgentAudible {
			return Candidate{e.Turn}, []Effect{OpenCandidate{e.Turn}}
		}
	case Candidate, Speaking, Confirming:
	}
	return s, nil
}
