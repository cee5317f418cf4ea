package speaking

// The model's input for a response.

import (
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// request returns everything that the model gets for r, as a snapshot. An error says that the model cannot be asked.
func (g *Generator) request(r *Response) (pipeline.Request, error) {
	set := g.Settings.Current()
	q := g.Settings.ModelRequest(r.request)
	q.MaxOutputTokens, q.Spoken = r.object.MaxOutputTokens.N, r.spoken
	g.offer(r, &q)
	ask := conversation.Ask{Idle: r.turn != nil && r.turn.Wordless, Truncation: set.Truncate(), Format: g.Settings.InputFormat()}
	if r.request != nil {
		ask.Input, ask.HasInput = r.request.Input, r.request.HasInput
	}
	for _, o := range r.text.items {
		ask.Made = append(ask.Made, o.item)
	}
	p, err := g.Conversation.Request(q, ask)
	if p.Left > 0 && err == nil {
		g.Log.Info("the oldest messages are left out of what the model is asked", "left_out", p.Left, "of", p.Messages)
	}
	r.single = !q.ParallelToolCalls
	r.cost.prompt += p.Tokens
	return p.Request, err
}
