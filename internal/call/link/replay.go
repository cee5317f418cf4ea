package link

// The replay buffer: keeps the newest events that were sent, for a client that reconnects.

// Limits of the replay buffer. The queue of a data channel has the same bounds (rtc.Config), so that all of the events fit there.
const (
	maxReplay      = 1000
	maxReplayBytes = 2 << 20
	// Over a WebSocket, where events contain audio.
	maxReplayWithAudio      = 4000
	maxReplayWithAudioBytes = 4 << 20
	// replayBeforeHello is how many events are kept for a client that has not said yet that it can reconnect.
	replayBeforeHello = 16
)

// replayBuffer keeps the newest events of a call, bounded by their number and bytes.
type replayBuffer struct {
	maxEvents, maxBytes int
	events              []Event // oldest first
	bytes               int     // the size of their texts
	incomplete          bool    // the oldest events are forgotten
	// restored: the events before came from a journal, which has the numbered events after the number base.
	restored bool
	base     uint64
}

func newReplayBuffer(withAudio bool) replayBuffer {
	if withAudio {
		return replayBuffer{maxEvents: maxReplayWithAudio, maxBytes: maxReplayWithAudioBytes}
	}
	return replayBuffer{maxEvents: maxReplay, maxBytes: maxReplayBytes}
}

// add keeps e and forgets the oldest events above the limits. reconnects says that the client can reconnect.
func (b *replayBuffer) add(e Event, reconnects bool) {
	b.events = append(b.events, e)
	b.bytes += len(e.Text)
	limit := b.maxEvents
	if !reconnects {
		limit = replayBeforeHello
	}
	n := 0
	for n < len(b.events) && (len(b.events)-n > limit || b.bytes > b.maxBytes) {
		b.bytes -= len(b.events[n].Text)
		b.base = max(b.base, b.events[n].Number)
		b.events[n] = Event{}
		n++
	}
	if n > 0 {
		b.incomplete = true
		b.events = b.events[n:]
	}
}

// after returns the events that were sent after the event with that id, or all events if id is empty. ok is false if some of
// them are forgotten.
func (b *replayBuffer) after(id string) (events []Event, ok bool) {
	if id == "" {
		return b.events, !b.incomplete
	}
	for i := len(b.events) - 1; i >= 0; i-- {
		if b.events[i].ID == id {
			return b.events[i+1:], true
		}
	}
	if !b.restored {
		return nil, false
	}
	events, err := EventsAfter(b.events, b.base, id) // the event was sent by the process before, and is not in the journal
	return events, err == nil
}
