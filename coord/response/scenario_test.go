package response

// The machine's stories (testdata/*.txt), its diagram and its benchmark.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

func TestStories(t *testing.T) { coordtest.Stories(t, subject) }

func TestDiagram(t *testing.T) { coordtest.Diagram(t, Table, subject.First) }

func BenchmarkNext(b *testing.B) {
	coordtest.Bench(b, Table,
		coordtest.Case[State, Event, Effect]{From: Idle{}, Event: Create{ID: 1}, Switch: byHand},
		coordtest.Case[State, Event, Effect]{From: Terminated{}, Event: Shutdown{}, Switch: byHand})
}

// byHand is the timed transitions as a plain switch.
func byHand(s State, e Event) (State, []Effect) {
	switch s.(type) {
	case Idle:
		if e, ok := e.(Create); ok {
			return Active{e.ID}, []Effect{EmitCreated(e), StartBody{e.ID}}
		}
	case Active, Draining, Replacing, Terminating, Terminated:
	}
	return s, nil
}
