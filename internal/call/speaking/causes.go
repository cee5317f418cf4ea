package speaking

// The causes of responses: a client's request or a user turn. The machines know a cause only by its number.

import (
	"github.com/antiphon-rt/antiphon/coord/draft"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// cause is the cause of a response: the client's request, or else a user turn.
type cause struct {
	request *wire.ResponseParams
	turn    *room.Timing
	says    string // what the response says, in place of the model; "" lets the model write it
}

// causes maps the numbers that the machines use to requests and turns. The zero value is empty.
type causes struct {
	known map[machine.Request]cause
	asked uint64 // requests of the client so far
}

// Request gives a request of the client a number, for response.Create.
func (g *Generator) Request(p *wire.ResponseParams) machine.Request {
	g.causes.asked++
	of := machine.Request{Client: g.causes.asked}
	g.causes.put(of, cause{request: p})
	return of
}

// Respond begins a response in the conversation with the settings of p, if the requests that are kept have room for p.
func (g *Generator) Respond(p *wire.ResponseParams) (out room.List) {
	if refused := g.Reserve(p); refused != nil {
		return room.Failed(refused)
	}
	out.Step(coord.OfResponse{Event: response.Create{Request: g.Request(p)}})
	return out
}

// Say gives a request of the session's own a number, for response.Create: the response says a text, and no model is asked.
func (g *Generator) Say(text string) machine.Request {
	of := g.Request(&wire.ResponseParams{})
	why := g.causes.known[of]
	why.says = text
	g.causes.put(of, why)
	return of
}

// Commit notes a user turn that may be answered.
func (g *Generator) Commit(t turn.ID, u *room.Timing) {
	g.causes.put(machine.Request{Turn: t}, cause{turn: u})
	if g.AnswerAhead {
		g.draft(draft.Committed{Turn: t})
	}
}

func (c *causes) put(of machine.Request, why cause) {
	if c.known == nil {
		c.known = map[machine.Request]cause{}
	}
	c.known[of] = why
}

// ForgetCauses drops what the machines cannot name any more. They may still name the turn that waits for its answer and
// the request of the newest response, so at most two entries are left.
func (g *Generator) ForgetCauses(s *coord.State) {
	for of := range g.causes.known {
		if of != s.Owed && (of.Turn == 0 || of.Turn != s.Waiting) {
			delete(g.causes.known, of)
		}
	}
}
