package speaking

// The text of a response on its way through the synthesizer, clause by clause.

import (
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// enqueue gives a clause to the synthesizer, by way of the synthesis machine.
func (g *Generator) enqueue(r *Response, clause string) room.List {
	o := r.text.message
	if o == nil || r.cost.voiceErr != nil { // the synthesizer has failed
		return nil
	}
	n := r.text.clauses
	r.text.clauses++
	r.text.saying[n] = synthesizedPart{o, o.item.AddClause(clause), clause, sounding{from: -1}}
	return g.synthesize(r, synthesis.Enqueue{Clause: n})
}

// synthesizerSays takes a piece of audio of a clause. audible says that the agent is audible at present.
func (g *Generator) synthesizerSays(r *Response, e Audio, audible bool) (out room.List) {
	if r.closed() {
		return nil
	}
	if c, ok := r.text.saying[e.Clause]; ok {
		at := r.track.Length() - c.item.start
		c.item.item.SpokenClause(c.span, at, voice.Samples(len(e.PCM)))
		if !r.track.dropped {
			out = g.clauseSounds(r, e, at)
		}
	}
	if r.track.dropped {
		return nil
	}
	if o := r.lastMessage(); o != nil {
		g.Conversation.AddAudio(o.item, e.PCM)
	}
	if r.turn != nil {
		r.turn.FirstAudio(g.Env.Now())
	}
	if r.OutOfBand() {
		return g.Player.WriteOutOfBand(r.track, e.PCM)
	}
	return append(out, g.Player.Write(r.track, e.PCM, audible)...)
}
