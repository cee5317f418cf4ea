package journal

// The machine's stories (testdata/*.txt), its diagram and its benchmark.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

func TestStories(t *testing.T) { coordtest.Stories(t, subject) }

func TestDiagram(t *testing.T) { coordtest.Diagram(t, Table, subject.First) }

func BenchmarkNext(b *testing.B) {
	coordtest.Bench(b, Table,
		coordtest.Case[State, Event, Effect]{From: Writing{2, 1}, Event: Stored{2}, Switch: byHand},
		coordtest.Case[State, Event, Effect]{From: Fenced{}, Event: Stop{}, Switch: byHand})
}

// byHand is the timed transitions as a plain switch.
func byHand(s State, e Event) (State, []Effect) {
	switch s := s.(type) {
	case Writing:
		if e, ok := e.(Stored); ok && e.To == s.Recorded {
			return Resting{e.To}, []Effect{Release{e.To}}
		}
	case Waiting, Resting, Doubtful, Broken, Mending, Off, Finishing, Ending, Fenced, Closed:
	}
	return s, nil
}
