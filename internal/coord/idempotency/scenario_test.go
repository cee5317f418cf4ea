package idempotency

// The machine's stories (testdata/*.txt), its diagram and its benchmark.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

func TestStories(t *testing.T) { coordtest.Stories(t, subject) }

func TestDiagram(t *testing.T) { coordtest.Diagram(t, Table, subject.First) }

func BenchmarkNext(b *testing.B) {
	coordtest.Bench(b, Table,
		coordtest.Case[State, Event, Effect]{From: Free{}, Event: Check{1, 1, false}, Switch: byHand},
		coordtest.Case[State, Event, Effect]{From: Unknown{}, Event: LeaseExpired{1}, Switch: byHand})
}

// byHand is the timed transitions as a plain switch.
func byHand(s State, e Event) (State, []Effect) {
	switch s := s.(type) {
	case Free:
		if e, ok := e.(Check); ok {
			return Locked{Try: e.Try, Lease: s.Lease + 1, Payload: e.Payload}, []Effect{ArmLease{s.Lease + 1}, Grant{e.Try}}
		}
	case Locked, Cached, Unknown:
	}
	return s, nil
}
