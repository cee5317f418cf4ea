package client

// Events that a client sends again when it has reconnected: each of them counts once.

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/server/session/action"
	"github.com/antiphon-rt/antiphon/wire"
)

// maxRemembered is how many of its newest events with an event_id the session remembers.
const maxRemembered = 512

// takenEvents are the newest events with an event_id that a client has sent which can reconnect. The protocol does not demand that ids differ, so an event
// counts as sent again only if it has the id and the text of one of an earlier connection, and if the client has used the id for nothing else.
type takenEvents struct {
	all        []takenEvent // the oldest first, at most maxRemembered
	connection int          // how often the client has reconnected
}

// takenEvent is what is kept of one event: hashes of its id and of its text.
type takenEvent struct {
	id, text   uint64
	connection int  // the one over which it came
	again      int  // the newest connection over which it came again; 0 for none
	reused     bool // its id names several events
}

// seed is that of all hashes: they are compared within this process only.
var seed = maphash.MakeSeed()

// reconnects notes that the connection of the client is gone, and that it comes back over another one.
func (t *takenEvents) reconnects() { t.connection++ }

// repeated reports whether an event was taken over an earlier connection, and notes it if not.
func (t *takenEvents) repeated(id string, text []byte) bool {
	now := takenEvent{id: maphash.String(seed, id), text: maphash.Bytes(seed, text), connection: t.connection}
	at := slices.IndexFunc(t.all, func(e takenEvent) bool { return e.id == now.id })
	if at < 0 {
		if len(t.all) == maxRemembered {
			t.all = slices.Delete(t.all, 0, 1)
		}
		t.all = append(t.all, now)
		return false
	}
	e := &t.all[at]
	if e.connection == t.connection || e.again == t.connection || e.text != now.text {
		e.reused = true
	}
	if e.reused {
		return false
	}
	e.again = t.connection
	return true
}

// Left notes that the client reconnects over another connection. All events of the old one are taken.
func (c *Client) Left() { c.sent.reconnects() }

// takenBefore reports whether the client has sent the event over an earlier connection already. Our extensions, but for those that act on runs, and
// requests that change nothing, are answered each time.
func (c *Client) takenBefore(o Origin, e wire.ClientEvent, text []byte) bool {
	if o.Side != nil || o.Event == "" || !c.Reconnects.Load() {
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
	return c.sent.repeated(o.Event, text)
}

// counted answers an event that counts already.
func counted(o Origin) action.List {
	return action.List{action.Answer{Event: &wire.AntiphonAck{Acknowledges: o.Event}}}
}
