package signal

import "github.com/antiphon-rt/antiphon/server/call"

// Limits of the events that are kept for a client that comes back. What waits in a data channel's queue is bounded by the same
// numbers (rtc.Config), so that all of them fit there.
const (
	maxKept      = 1000
	maxKeptBytes = 2 << 20
	// Of a WebSocket, where audio is in events.
	maxKeptSocket      = 4000
	maxKeptSocketBytes = 4 << 20
	// keptBefore is how many are kept for a client that has not said yet that it may come back.
	keptBefore = 16
)

// tape keeps the newest events of a call.
type tape struct {
	maxItems, maxBytes int
	events             []call.Event // oldest first
	bytes              int
	torn               bool // the oldest are gone
}

// add keeps one more; all: as many as the limits allow.
func (t *tape) add(e call.Event, all bool) {
	t.events = append(t.events, e)
	t.bytes += len(e.Text)
	limit := t.maxItems
	if !all {
		limit = keptBefore
	}
	n := 0
	for n < len(t.events) && (len(t.events)-n > limit || t.bytes > t.maxBytes) {
		t.bytes -= len(t.events[n].Text)
		t.events[n] = call.Event{}
		n++
	}
	if n > 0 {
		t.torn = true
		t.events = t.events[n:]
	}
}

// after are the events behind the one with that event_id, or all when id is empty. ok is false when it is not there any more.
func (t *tape) after(id string) (events []call.Event, ok bool) {
	if id == "" {
		return t.events, !t.torn
	}
	for i := len(t.events) - 1; i >= 0; i-- {
		if t.events[i].ID == id {
			return t.events[i+1:], true
		}
	}
	return nil, false
}
