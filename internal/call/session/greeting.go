package session

// The greeting of a telephone call: the agent speaks first.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// Greet has the agent speak first: it says words, or what the model wants to say if words is empty. A user who speaks before gets an answer in its place.
func (s *Session) Greet(words string) { s.post(greeting{words}) }

// greet begins the greeting, or keeps it until the session is announced.
func (s *Session) greet(g greeting) {
	st := &s.machines.state
	if _, connecting := st.Conn.(conn.Connecting); connecting {
		s.client.greeting = &g
		return
	}
	s.client.greeting = nil
	_, free := st.Response.(response.Idle)
	_, quiet := st.Turn.(turn.Idle)
	_, silent := st.Playout.(playout.Silent)
	if !conn.Up(st.Conn) || !free || !quiet || !silent {
		return
	}
	if g.words == "" {
		s.do(s.client.createResponse(room.Origin{}, &wire.ResponseCreate{}))
		return
	}
	var out room.List
	out.Step(coord.OfResponse{Event: response.Create{Request: s.generator.Say(g.words)}})
	s.do(out)
}
