package link

import (
	"bytes"
	"sync"

	"github.com/antiphon-rt/antiphon/wire"
)

// The encoded event that a session gives to a link.

// An Event is a server event, encoded once, together with the fields that a link needs in order to handle it.
type Event struct {
	// Type is the event's name, such as "response.done".
	Type string
	// ID is the event_id.
	ID string
	// Text is the event's JSON text. Nobody changes it.
	Text []byte
	// Session is a copy of the session object in session.created and session.updated; nil in all other events.
	Session *wire.Session
	// Number is the event's place among the numbered events of a call that is journalled: 1, 2, 3, … The client gets a numbered event once it is stored. 0 for all
	// other events.
	Number uint64
}

// texts has room for texts while they are written: what is kept of an event for minutes is as small as its text.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// Encode encodes e, which has its event_id already.
func Encode(e wire.ServerEvent) Event {
	text, _ := texts.Get().(*[]byte)
	defer texts.Put(text)
	*text = wire.AppendServer((*text)[:0], e)
	return Event{Type: e.Type(), ID: e.ID(), Text: bytes.Clone(*text), Session: sessionIn(e)}
}

// sessionIn returns a copy of the session object of a session.created or session.updated, and nil for other events.
func sessionIn(e wire.ServerEvent) *wire.Session {
	var s wire.Session
	if created, ok := e.(*wire.SessionCreated); ok {
		s = created.Session.Clone()
	} else if updated, ok := e.(*wire.SessionUpdated); ok {
		s = updated.Session.Clone()
	} else {
		return nil
	}
	return &s
}
