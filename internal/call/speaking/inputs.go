package speaking

// The memory of the inputs that clients give their responses: it counts for the budget of all conversations.

import (
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// Reserve charges the server's memory with the request of a response that is about to be created. It returns a failure when the request is
// too large, or when the server has too little memory. Settle gives the memory back once nothing keeps the request.
func (g *Generator) Reserve(p *wire.ResponseParams) *room.Failure {
	bytes, refused := g.Conversation.SizeOfRequest(p)
	if refused != nil || bytes == 0 {
		return refused
	}
	if !g.Conversation.Reserve(g.reserved() + bytes) {
		return conversation.MemoryFull("response.input", "the server has no memory for this input at the moment: send less, or try again later")
	}
	if g.inputs == nil {
		g.inputs = map[*wire.ResponseParams]int{}
	}
	g.inputs[p] = bytes
	return nil
}

// reserved returns how many bytes the requests take that are kept.
func (g *Generator) reserved() (bytes int) {
	for _, n := range g.inputs {
		bytes += n
	}
	return bytes
}

// release gives back the memory of the requests that neither a response nor a cause keeps.
func (g *Generator) release() {
	before := len(g.inputs)
	for p := range g.inputs {
		if !g.keeps(p) {
			delete(g.inputs, p)
		}
	}
	if len(g.inputs) < before {
		g.Conversation.Reserve(g.reserved()) // less than before always fits
	}
}

// keeps reports whether a response or a cause has the request p.
func (g *Generator) keeps(p *wire.ResponseParams) bool {
	for _, r := range g.responses {
		if r.request == p {
			return true
		}
	}
	for _, why := range g.causes.known {
		if why.request == p {
			return true
		}
	}
	return false
}
