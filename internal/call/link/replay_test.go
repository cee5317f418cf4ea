package link

// The replay buffer keeps the newest events, up to its limits of events and bytes. A client that reconnects gets those after the last
// event that it names, or learns that they are lost.

import (
	"fmt"
	"testing"

	"github.com/onsi/gomega"
)

func TestReplayBuffer(t *testing.T) {
	event := func(i int) Event {
		id := fmt.Sprintf("event_%d", i)
		return Event{Type: "x", ID: id, Text: []byte(fmt.Sprintf(`{"type":"x","event_id":"%s","of":1}`, id))}
	}
	fill := func(maxEvents, maxBytes, n int, reconnects bool) *replayBuffer {
		b := &replayBuffer{maxEvents: maxEvents, maxBytes: maxBytes}
		for i := range n {
			b.add(event(i), reconnects)
		}
		return b
	}
	for _, row := range []struct {
		name   string
		buffer *replayBuffer
		after  string
		want   int
		ok     bool
	}{
		{"nothing yet", fill(10, 1<<20, 0, true), "", 0, true},
		{"all", fill(10, 1<<20, 10, true), "", 10, true},
		{"what came after", fill(10, 1<<20, 10, true), "event_6", 3, true},
		{"nothing came after", fill(10, 1<<20, 10, true), "event_9", 0, true},
		{"all, but the first is gone", fill(10, 1<<20, 11, true), "", 11, false},
		{"too many", fill(10, 1<<20, 30, true), "event_19", 0, false},
		{"the oldest that is left", fill(10, 1<<20, 30, true), "event_20", 9, true},
		{"too many bytes", fill(1000, 10*len(event(100).Text), 130, true), "event_119", 0, false},
		{"as many bytes as there may be", fill(1000, 10*len(event(100).Text), 130, true), "event_120", 9, true},
		{"few events before the client says that it can reconnect", fill(1000, 1<<20, 30, false), "event_10", 0, false},
		{"an event that was never sent", fill(10, 1<<20, 3, true), "event", 0, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			events, ok := row.buffer.after(row.after)
			g.Expect(ok).To(gomega.Equal(row.ok))
			if ok {
				g.Expect(events).To(gomega.HaveLen(row.want))
			}
		})
	}
}
