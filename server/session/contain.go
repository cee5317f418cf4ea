package session

import (
	"runtime/debug"

	"github.com/antiphon-rt/antiphon/server/session/fault"
)

// What is logged when a fault is ours.
const (
	sessionFailed   = "a session has failed"
	invariantBroken = "an invariant does not hold"
)

// mourn ends a session whose actor panics: that is a fault of ours, but the other calls are not to pay for it.
func (s *Session) mourn() {
	v := recover()
	if v == nil {
		return
	}
	s.log.Error(sessionFailed, "panic", v, "stack", string(debug.Stack()))
	if !s.released {
		s.release()
	}
}

// failed logs the failure of a stage.
func (s *Session) failed(what string, err error, about ...any) {
	about = append(about, "err", err)
	if stack := fault.Stack(err); stack != "" {
		s.log.Error(what, append(about, "stack", stack)...)
		return
	}
	s.log.Warn(what, about...)
}
