package sdk

// The cost of one server event.

import (
	"context"
	"strconv"
	"testing"

	"github.com/antiphon-rt/antiphon/wire"
)

// BenchmarkDelta is one event of a response's text in a long conversation, from the bytes to the subscriber.
func BenchmarkDelta(b *testing.B) {
	peer := quiet()
	s, err := New(Options{Dialer: &fakeDialer{peer: peer, greets: true}})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Connect(b.Context()); err != nil {
		b.Fatal(err)
	}
	s.Subscribe(func(Snapshot) {})
	for i := range s.limits.Entries {
		it := wire.Item{ID: strconv.Itoa(i), Type: wire.ItemMessage, Role: "assistant"}
		tell(peer, &wire.ConversationItemAdded{EventID: "e", Item: it})
	}
	delta := wire.AppendServer(nil, &wire.ResponseOutputAudioTranscriptDelta{EventID: "e", ItemID: "7", Delta: "x"})
	b.ReportAllocs()
	for b.Loop() {
		peer.sink(Message{Data: delta})
	}
	if err := s.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}
