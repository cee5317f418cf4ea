package survival

// What the journal is to learn of the events that the client gets, and whether an answer goes on in another process.

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

func TestAnAnswerGoesOn(t *testing.T) {
	for name, row := range map[string]struct {
		open        journal.Open
		answer      journal.Answer
		heard, lost bool
		due         bool
	}{
		"an answer was due":                         {open: journal.Open{Answering: true}, due: true},
		"none was due":                              {},
		"the words to answer are lost":              {open: journal.Open{Answering: true}, lost: true},
		"its beginning was heard":                   {heard: true, due: true},
		"its beginning was heard, words are lost":   {open: journal.Open{Answering: true}, heard: true, lost: true, due: true},
		"it was cancelled":                          {open: journal.Open{Answering: true}, answer: journal.Answer{Cancelled: true}},
		"the server asks its question again":        {open: journal.Open{Answering: true}, answer: journal.Answer{Says: true}},
		"another one waits behind one that it says": {open: journal.Open{Answering: true, Queued: true}, answer: journal.Answer{Says: true}, due: true},
	} {
		s := New(Parts{})
		s.goesOn(&row.open, &row.answer, row.heard, row.lost)
		gomega.NewWithT(t).Expect(s.continuation.due).To(gomega.Equal(row.due), name)
	}
}
