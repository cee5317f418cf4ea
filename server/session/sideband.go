package session

import "github.com/antiphon-rt/antiphon/server/call"

// Control is Message for whoever controls the call from the side.
func (s *Session) Control(from *call.SidebandController, data []byte, text bool) {
	s.take(from, data, text)
}

// RefuseSide is Refuse for whoever controls the call from the side.
func (s *Session) RefuseSide(from *call.SidebandController, code, message string) {
	s.queue.post(untaken{from, failure{code: code, message: message}})
}
