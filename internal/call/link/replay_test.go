package link

// The replay buffer keeps the newest events, up to its limits of events and bytes. A client that reconnects gets those after the last
// event that it names, or learns that they are lost.

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestReplayBuffer(t *testing.T) {
	event := func(i int) Event {
		id := fmt.Sprintf("event_%d", i)
		return Event{Type: "x", ID: id, Text: []byte(fmt.Sprintf(`{"type":"x","event_id":"%s","of":1}`, id))}
	}
	fill := func(maxEvents, maxBytes, n int, reconnects bool) *replayBuffer {
		b := &replayBuffer{maxEvents: maxEvents, maxBytes: maxBytes, memory: unlimited{}}
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
		{"too many", fill(10, 1<<20, 30, true), "event_18", 0, false},
		{"the newest that is forgotten", fill(10, 1<<20, 30, true), "event_19", 10, true},
		{"the oldest that is left", fill(10, 1<<20, 30, true), "event_20", 9, true},
		{"too many bytes", fill(1000, 10*len(event(100).Text), 130, true), "event_118", 0, false},
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

// handClock is an environment whose time the test sets.
type handClock struct {
	env.Env
	now time.Time
}

func (c *handClock) Now() time.Time { return c.now }

// TestEventsThatTheClientHasAreForgotten: while its client is connected, a call of any length keeps the events of the last minutes. What a client may not have yet stays.
func TestEventsThatTheClientHasAreForgotten(t *testing.T) {
	g := gomega.NewWithT(t)
	clock := &handClock{env.System(), time.Unix(1, 0)}
	h := NewHub(clock, sinkConnection{}, func() bool { return true })
	n := 0
	send := func(events int, each time.Duration) {
		for range events {
			clock.now = clock.now.Add(each)
			n++
			_ = h.Send(Event{ID: fmt.Sprint(n)}, nil) // fails while the client is away
		}
	}
	kept := func(after int) int {
		events, ok := h.replay.after(fmt.Sprint(after))
		g.Expect(ok).To(gomega.BeTrue(), "the events after it are kept")
		return len(events)
	}

	send(900, time.Second)
	g.Expect(len(h.replay.events)).To(gomega.And(gomega.BeNumerically(">=", 90), gomega.BeNumerically("<=", 181)))
	send(1, time.Hour)
	g.Expect(kept(n-1)).To(gomega.Equal(1), "the client has heard nothing for an hour, and names the newest event before it")

	lost := n
	<-h.Detach()
	send(300, time.Second)
	g.Expect(kept(lost)).To(gomega.Equal(300), "all that the client has missed")
	g.Expect(h.Attach(sinkConnection{}, fmt.Sprint(lost))).To(gomega.BeTrue())
	send(1, time.Minute)
	g.Expect(kept(lost)).To(gomega.Equal(301), "the new connection may have carried nothing")
	send(300, time.Second)
	g.Expect(len(h.replay.events)).To(gomega.BeNumerically("<=", 181))
}

// TestAnEventIsAsLargeAsItsText: its text has little room that nothing uses.
func TestAnEventIsAsLargeAsItsText(t *testing.T) {
	g := gomega.NewWithT(t)
	for n := range 100 {
		text := Encode(&wire.ResponseOutputTextDelta{Delta: strings.Repeat("a", 10*n)}).Text
		g.Expect(text).To(gomega.HaveCap(cap(bytes.Clone(text))))
	}
}

// share is a Memory of so many bytes.
type share struct{ left int64 }

func (s *share) Take(n int64) error {
	if n > s.left {
		return ErrBackpressure
	}
	s.left -= n
	return nil
}

func (s *share) Give(n int64) { s.left += n }
func (s *share) Close()       { s.left = -1 }

// TestKeptEventsShareMemory: if there is no memory for an event, the oldest ones of the call go.
func TestKeptEventsShareMemory(t *testing.T) {
	g, memory := gomega.NewWithT(t), &share{10}
	h := NewHub(env.System(), sinkConnection{}, func() bool { return true })
	send := func(id string, size int) {
		_ = h.Send(Event{ID: id, Text: make([]byte, size), Session: &wire.Session{}}, nil)
	}
	kept := func(after string) bool {
		_, ok := h.replay.after(after)
		return ok
	}
	send("z", 1)
	send("a", 3)
	h.ShareMemory(unlimited{}, memory)
	send("b", 3)
	send("c", 3)
	g.Expect(h.replay.events[0].Session).To(gomega.BeNil(), "the text has it")
	g.Expect(kept("")).To(gomega.BeTrue())
	send("d", 3)
	g.Expect(h.Kept()).To(gomega.Equal(9))
	g.Expect(h.Reserve("z")).To(gomega.MatchError(ErrReplayLost))
	g.Expect([]bool{kept("a"), kept("b")}).To(gomega.Equal([]bool{true, true}), "who has the newest event that is forgotten has lost nothing")
	send("large", 11)
	g.Expect(h.replay.events).To(gomega.BeEmpty())
	g.Expect(memory.left).To(gomega.Equal(int64(10)))
	send("e", 1)
	g.Expect([]bool{kept(""), kept("d"), kept("large"), kept("e")}).To(gomega.Equal([]bool{false, false, true, true}))
	_ = h.Close()
	g.Expect(memory.left).To(gomega.Equal(int64(-1)), "it was closed")
}
