package link

import "github.com/antiphon-rt/antiphon/wire"

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

// Encode encodes e, which has its event_id already.
func Encode(e wire.ServerEvent) Event {
	return Event{Type: e.Type(), ID: e.ID(), Text: wire.AppendServer(nil, e), Session: sessionIn(e)}
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
