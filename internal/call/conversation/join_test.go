package conversation

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// hardly is how much of an answer the user may have heard in these tests.
const hardly = second / 2

// TestJoins: which messages of the user may become one.
func TestJoins(t *testing.T) {
	for _, c := range []struct {
		name  string
		first string // the transcript of the first message
		then  func(tester)
		joins bool
	}{
		{"nothing stands between them", "book a flight", func(tester) {}, true},
		{"the user has heard little of the answer", "book a flight", func(r tester) { r.Cut(r.answered("Sure.", "Where?"), 400) }, true},
		{"the user has heard more of the answer", "book a flight", func(r tester) { r.Cut(r.answered("Sure.", "Where?"), 600) }, false},
		{"the answer was not cut", "book a flight", func(r tester) { r.answered("Sure.") }, false},
		{"the user has written something", "book a flight", func(r tester) { r.note("to rome") }, false},
		{"a function was called", "book a flight", func(r tester) {
			r.Begin(wire.Item{ID: "call", Type: wire.ItemFunctionCall, Name: "book", CallID: "1"})
		}, false},
		{"the first has no words", "", func(tester) {}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := begin(t, "")
			first := r.said("first", 1)
			first.SetTranscript(0, c.first)
			c.then(r)
			r.g.Expect(r.Joins(first.Num(), 0, hardly)).To(gomega.Equal(c.joins), "what the user says now")
			second := r.said("second", 2)
			r.g.Expect(r.Joins(first.Num(), second.Num(), hardly)).To(gomega.Equal(c.joins))
			second.AwaitTranscript()
			r.g.Expect(r.Joins(second.Num(), 0, hardly)).To(gomega.BeFalse(), "its transcript is awaited")
		})
	}
}

// TestJoin: the first message and the answer to it are gone, and the audio of the message is returned.
func TestJoin(t *testing.T) {
	r := begin(t, "")
	r.KeepAudio()
	r.note("earlier")
	first := r.said("first", 1)
	r.Cut(r.answered("Sure."), 100)
	second := r.said("second", 2)
	pcm, events := r.Join(first.Num(), second.Num())
	r.g.Expect(pcm).To(gomega.HaveLen(room.InputRate))
	var gone []string
	for _, e := range events {
		gone = append(gone, e.(*wire.ConversationItemDeleted).ItemID)
	}
	r.g.Expect(gone).To(gomega.Equal([]string{"a", "first"}))
	r.g.Expect(r.Find("second")).To(gomega.Equal(second))
	r.g.Expect(r.NewestOfUser()).To(gomega.Equal(second))
	r.g.Expect(r.Joins(first.Num(), second.Num(), hardly)).To(gomega.BeFalse(), "the first is gone")
}
