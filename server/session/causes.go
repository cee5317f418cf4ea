package session

import (
	"github.com/antiphon-rt/antiphon/coord/id"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/session/timing"
	"github.com/antiphon-rt/antiphon/wire"
)

// What the responses of the conversation are for: the machines know a request by its name alone.

// cause is what a response is for: the client's request, or else a turn.
type cause struct {
	request *wire.ResponseParams
	turn    *timing.Turn
}

// causes is the table from the names that the machines use to what they name. The zero value is empty.
type causes struct {
	known map[id.Request]cause
	asked uint64 // requests of the client so far
}

// ask names a request of the client.
func (c *causes) ask(p *wire.ResponseParams) id.Request {
	c.asked++
	of := id.Request{Client: c.asked}
	c.put(of, cause{request: p})
	return of
}

// commit notes a turn that may be answered.
func (c *causes) commit(t turn.ID, u *timing.Turn) { c.put(id.Request{Turn: t}, cause{turn: u}) }

func (c *causes) put(of id.Request, why cause) {
	if c.known == nil {
		c.known = map[id.Request]cause{}
	}
	c.known[of] = why
}

// forget drops what the machines cannot name any more. What they may still name is the turn that waits for its answer and
// the request of the newest response, so at most two entries are left.
func (c *causes) forget(s coord.State) {
	for of := range c.known {
		if of != s.Owed && (of.Turn == 0 || of.Turn != s.Waiting) {
			delete(c.known, of)
		}
	}
}
