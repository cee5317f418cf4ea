package link

// The replay buffer: keeps the newest events that were sent, for a client that reconnects.

import "time"

// Limits of the replay buffer. The queue of a data channel has the same bounds (rtc.Config), so that all of the events fit there.
const (
	maxReplay      = 1000
	maxReplayBytes = 2 << 20
	// Over a WebSocket, where events contain audio.
	maxReplayWithAudio      = 4000
	maxReplayWithAudioBytes = 4 << 20
	// OwnReplay is how much of the bytes is beside the memory that all connections share: about all events of a call over WebRTC, and 8 s of audio.
	OwnReplay = 512 << 10
	// replayBeforeHello is how many events are kept for a client that has not said yet that it can reconnect.
	replayBeforeHello = 16
	// surelySeen is how long after an event was sent a client whose connection still stands has it for certain: the transports find a connection
	// that carries nothing within a minute.
	surelySeen = 90 * time.Second
)

// Memory counts bytes that a principal has a share of. An account.Account is one.
type Memory interface {
	// Take takes n bytes, or none and returns an error.
	Take(n int64) error
	Give(n int64)
	Close() // gives back everything
}

// unlimited is the Memory of a call that shares none.
type unlimited struct{}

func (unlimited) Take(int64) error { return nil }
func (unlimited) Give(int64)       {}
func (unlimited) Close()           {}

// replayBuffer keeps the newest events of a call, bounded by their number and bytes, and by their age while the client is connected.
type replayBuffer struct {
	maxEvents, maxBytes int
	memory              Memory  // for the texts of events
	events              []Event // oldest first
	bytes               int     // the size of their texts
	incomplete          bool    // the oldest events are forgotten
	forgotten           string  // the id of the newest of these
	old                 int     // how many of the events were sent before since
	since               time.Time
	// restored: another process sent the oldest events, and a journal had them. events has all numbered events whose number is above base.
	restored bool
	base     uint64
}

func newReplayBuffer(withAudio bool) replayBuffer {
	if withAudio {
		return replayBuffer{maxEvents: maxReplayWithAudio, maxBytes: maxReplayWithAudioBytes, memory: unlimited{}}
	}
	return replayBuffer{maxEvents: maxReplay, maxBytes: maxReplayBytes, memory: unlimited{}}
}

// add keeps e and forgets the oldest events above the limits, and for which the client's principal has no memory. reconnects says that the client can reconnect.
func (b *replayBuffer) add(e Event, reconnects bool) {
	e.Session = nil // the text has it
	for b.memory.Take(int64(len(e.Text))) != nil {
		if len(b.events) == 0 {
			b.base, b.incomplete, b.forgotten = max(b.base, e.Number), true, e.ID
			return
		}
		b.forget(1)
	}
	b.events = append(b.events, e)
	b.bytes += len(e.Text)
	limit := b.maxEvents
	if !reconnects {
		limit = replayBeforeHello
	}
	for len(b.events) > limit || b.bytes > b.maxBytes {
		b.forget(1)
	}
}

// forget forgets the n oldest events.
func (b *replayBuffer) forget(n int) {
	for i, e := range b.events[:n] {
		b.bytes -= len(e.Text)
		b.memory.Give(int64(len(e.Text)))
		b.base, b.forgotten = max(b.base, e.Number), e.ID
		b.events[i] = Event{}
	}
	b.events, b.old, b.incomplete = b.events[n:], max(0, b.old-n), b.incomplete || n > 0
}

// forgetSeen forgets old events. The client is connected at now, so it surely has them. An event stays for surelySeen to twice that. The newest of them stays
// for longer: a client that has got nothing since then names it when it reconnects.
func (b *replayBuffer) forgetSeen(now time.Time) {
	if now.Sub(b.since) >= surelySeen {
		b.forget(max(0, b.old-1))
		b.old, b.since = len(b.events), now
	}
}

// after returns the events that were sent after the event with that id, or all events if id is empty. ok is false if some of
// them are forgotten.
func (b *replayBuffer) after(id string) (events []Event, ok bool) {
	switch id {
	case "":
		return b.events, !b.incomplete
	case b.forgotten:
		return b.events, true
	}
	for i := len(b.events) - 1; i >= 0; i-- {
		if b.events[i].ID == id {
			return b.events[i+1:], true
		}
	}
	if !b.restored {
		return nil, false
	}
	events, err := EventsAfter(b.events, b.base, id) // an event that the journal does not have, such as a delta: its id has the number of the numbered event before it
	return events, err == nil
}
