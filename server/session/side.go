package session

import "sync/atomic"

// Side is one who controls a call from the side, beside its client. It is safe for concurrent use.
type Side struct {
	// Rules says that it may change what is locked.
	Rules bool
	// Answer gives it an event that is for it alone, a JSON text: it has asked for it, or asked wrongly. It does not block.
	Answer func(text []byte)

	extended atomic.Bool
}

// Extended reports whether it has said that it knows our extensions: events of theirs are for it, too.
func (d *Side) Extended() bool { return d.extended.Load() }

// Shared is a Link over which others hear the session, too.
type Shared interface {
	Link
	// Only is Send for an event that is for the client alone.
	Only(text []byte, sent func()) error
}

// Control is Message for whoever controls the call from the side.
func (s *Session) Control(from *Side, data []byte, text bool) { s.take(from, data, text) }

// RefuseSide is Refuse for whoever controls the call from the side.
func (s *Session) RefuseSide(from *Side, code, message string) {
	s.queue.post(untaken{from, failure{code: code, message: message}})
}
