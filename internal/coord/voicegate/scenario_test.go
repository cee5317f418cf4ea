package voicegate

// The machine's stories (testdata/*.txt), its diagram and its benchmark.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

func TestStories(t *testing.T) { coordtest.Stories(t, subject) }

func TestDiagram(t *testing.T) { coordtest.Diagram(t, Table, subject.First) }

func BenchmarkNext(b *testing.B) {
	coordtest.Bench(b, Table,
		coordtest.Case[State, Event, Effect]{From: Resolving{}, Event: Matched{}, Switch: byHand},
		coordtest.Case[State, Event, Effect]{From: Refused{}, Event: Shutdown{}, Switch: byHand})
}

// byHand is the timed transitions as a plain switch.
func byHand(s State, e Event) (State, []Effect) {
	switch s.(type) {
	case Resolving:
		if _, ok := e.(Matched); ok {
			return Admitted{}, []Effect{Admit{}}
		}
	case Waiting, Admitted, Refused:
	}
	return s, nil
}
