package survival

// What the journal is to learn of the events that the client gets.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestEventsBeforeARecord: before the client says that it can reconnect, the newest events are kept. After that none may be lost.
func TestEventsBeforeARecord(t *testing.T) {
	for begun, kept := range map[bool]int{false: keptBeforeHello, true: 3 * keptBeforeHello} {
		s := New(Parts{})
		s.begun = begun
		for n := range uint64(3 * keptBeforeHello) {
			s.Sends(&wire.ConversationItemAdded{}, link.Event{Number: n + 1})
		}
		g := gomega.NewWithT(t)
		g.Expect(s.events).To(gomega.HaveLen(kept))
		g.Expect(s.events[kept-1].Number).To(gomega.Equal(uint64(3 * keptBeforeHello)))
	}
}

// TestWhatAnEventBeginsAnotherEnds: the session that goes on ends what is open.
func TestWhatAnEventBeginsAnotherEnds(t *testing.T) {
	for _, row := range []struct {
		begin wire.ServerEvent
		ends  []wire.ServerEvent
		open  journal.Open
	}{
		{
			&wire.OutputAudioBufferStarted{ResponseID: "r"},
			[]wire.ServerEvent{&wire.OutputAudioBufferStopped{ResponseID: "r"}, &wire.OutputAudioBufferCleared{ResponseID: "r"}},
			journal.Open{Playing: "r"},
		},
		{
			&wire.InputAudioBufferSpeechStarted{ItemID: "u"},
			[]wire.ServerEvent{&wire.InputAudioBufferCommitted{ItemID: "u"}, &wire.InputAudioBufferCleared{}},
			journal.Open{Speech: "u"},
		},
	} {
		for _, end := range row.ends {
			g, s := gomega.NewWithT(t), New(Parts{})
			s.follow(row.begin)
			g.Expect(s.open).To(gomega.Equal(row.open))
			s.follow(end)
			g.Expect(s.open).To(gomega.Equal(journal.Open{}), end.Type())
		}
	}
}

// TestNothingFollowsTheMove: the session that goes on with the call sends the events after antiphon.session.moving.
func TestNothingFollowsTheMove(t *testing.T) {
	g, s := gomega.NewWithT(t), New(Parts{})
	g.Expect(s.Leaves("response.done")).To(gomega.BeFalse())
	g.Expect(s.Leaves(movingEvent)).To(gomega.BeFalse(), "it is the last one")
	for range 2 {
		g.Expect(s.Leaves("response.done")).To(gomega.BeTrue())
	}
}
