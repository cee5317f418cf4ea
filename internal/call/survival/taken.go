package survival

// Events that a client sends again when it has reconnected: each of them counts once.

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/wire"
)

// takenEvents are the newest events with an event_id that a client has sent which can reconnect. The protocol does not demand that ids differ, so an event
// counts as sent again only if it has the id and the text of one of an earlier connection, and if the client has used the id for nothing else.
type takenEvents struct {
	all        []takenEvent // the oldest first, at most journal.MaxSent
	connection int          // how often the client has reconnected
}

// takenEvent is what is kept of one event.
type takenEvent struct {
	journal.Sent

	connection int  // the one over which it came
	again      int  // the newest connection over which it came again; 0 for none
	recorded   bool // the journal knows it as it is
}

// hash returns what recognises an event_id or a text.
func hash(text []byte) uint64 {
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:])
}

// repeated reports whether an event was taken over an earlier connection, and notes it if not.
func (t *takenEvents) repeated(id string, text []byte) bool {
	now := takenEvent{Sent: journal.Sent{ID: hash([]byte(id)), Text: hash(text)}, connection: t.connection}
	at := slices.IndexFunc(t.all, func(e takenEvent) bool { return e.ID == now.ID })
	if at < 0 {
		if len(t.all) == journal.MaxSent {
			t.all = slices.Delete(t.all, 0, 1)
		}
		t.all = append(t.all, now)
		return false
	}
	e := &t.all[at]
	if e.connection == t.connection || e.again == t.connection || e.Text != now.Text {
		e.recorded = e.recorded && e.Reused
		e.Reused = true
	}
	if e.Reused {
		return false
	}
	e.again = t.connection
	return true
}

// unrecorded returns the events that the journal does not know as they are, and notes that it knows them.
func (t *takenEvents) unrecorded() (out []journal.Sent) {
	for i := range t.all {
		if e := &t.all[i]; !e.recorded {
			e.recorded = true
			out = append(out, e.Sent)
		}
	}
	return out
}

// restore notes the events that the journal knows. They came over an earlier connection.
func (t *takenEvents) restore(all []journal.Sent) {
	for _, e := range all {
		t.all = append(t.all, takenEvent{Sent: e, recorded: true})
	}
	t.connection++
}

// Left notes that the client reconnects over another connection. All events of the old one are taken.
func (s *Survival) Left() { s.sent.connection++ }

// Take notes the event_id of the client's last event.
func (s *Survival) Take(id string) { s.taken = id }

// Taken returns the event_id of the client's last event; "" where none had one.
func (s *Survival) Taken() string { return s.taken }

// TakenBefore reports whether the client has sent the event over an earlier connection already. Our extensions, but for those that act on runs, and
// requests that change nothing, are answered each time.
func (s *Survival) TakenBefore(o room.Origin, e wire.ClientEvent, text []byte) bool {
	if o.Side != nil || o.Event == "" || !s.Reconnects.Load() {
		return false
	}
	switch e.(type) {
	case *wire.AntiphonRunReply, *wire.AntiphonRunCancel:
	case *wire.ConversationItemRetrieve:
		return false
	default:
		if strings.HasPrefix(e.Type(), "antiphon.") {
			return false
		}
	}
	return s.sent.repeated(o.Event, text)
}
