package signal

import "bytes"

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
	events             [][]byte // oldest first
	bytes              int
	torn               bool // the oldest are gone
}

// add keeps one more; all: as many as the limits allow.
func (t *tape) add(text []byte, all bool) {
	t.events = append(t.events, text)
	t.bytes += len(text)
	limit := t.maxItems
	if !all {
		limit = keptBefore
	}
	n := 0
	for n < len(t.events) && (len(t.events)-n > limit || t.bytes > t.maxBytes) {
		t.bytes -= len(t.events[n])
		t.events[n] = nil
		n++
	}
	if n > 0 {
		t.torn = true
		t.events = t.events[n:]
	}
}

// after are the events behind the one with that event_id, or all when id is empty. ok is false when it is not there any more.
func (t *tape) after(id string) (events [][]byte, ok bool) {
	if id == "" {
		return t.events, !t.torn
	}
	for i := len(t.events) - 1; i >= 0; i-- {
		if eventID(t.events[i]) == id {
			return t.events[i+1:], true
		}
	}
	return nil, false
}

// idKey begins an event's event_id: wire writes the type first, and the event_id behind it.
var idKey = []byte(`,"event_id":"`)

// eventID is the event_id of an event of our own.
func eventID(text []byte) string {
	_, rest, found := bytes.Cut(text, idKey)
	if !found {
		return ""
	}
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(id)
}
