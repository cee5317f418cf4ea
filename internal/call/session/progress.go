package session

// How far a telephone call is that the server places.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/wire"
)

// Progress reports how far a telephone call is that the server places. Clients that say hello later learn the last state, too.
func (s *Session) Progress(state string, status int) { s.post(progressed{state, status}) }

func (s *Session) progresses(p progressed) {
	s.client.progress = &p
	if conn.Up(s.machines.state.Conn) {
		s.send(p.told())
	}
}

func (p progressed) told() *wire.AntiphonCallProgress {
	return &wire.AntiphonCallProgress{State: p.state, Status: p.status}
}
