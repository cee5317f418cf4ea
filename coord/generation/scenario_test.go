package generation

// The machine's stories (testdata/*.txt), its diagram and its benchmark.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

func TestStories(t *testing.T) { coordtest.Stories(t, subject) }

func TestDiagram(t *testing.T) { coordtest.Diagram(t, Table, subject.First) }

func BenchmarkNext(b *testing.B) {
	coordtest.Bench(b, Table,
		coordtest.Case[State, Event, Effect]{From: Waiting{}, Event: Begin{}, Switch: byHand},
		coordtest.Case[State, Event, Effect]{From: Draining{}, Event: BodyOver{}, Switch: byHand})
}

// byHand is the timed transitions as a plain switch.
func byHand(s State, e Event) (State, []Effect) {
	switch s.(type) {
	case Waiting:
		if _, ok := e.(Begin); ok {
			return Running{}, []Effect{Run{}}
		}
	case Draining:
		if _, ok := e.(BodyOver); ok {
			return Ended{}, []Effect{ReportOver{}}
		}
	case Announced, Running, Refused, Reported, Ended:
	}
	return s, nil
}
