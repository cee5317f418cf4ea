package speaking

// The model's input for a response.

import (
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// request returns everything that the model gets for r, as a snapshot, and notes in r whether the answer has at most one tool call. An error says why the model cannot be asked.
func (g *Generator) request(r *Response) (conversation.Prompt, error) {
	set, q := g.Settings.Current(), g.withoutMessages(r)
	ask := conversation.Ask{
		Idle: r.turn != nil && r.turn.Wordless, Once: r.OutOfBand() || changesWindow(r.request),
		Truncation: set.Truncate(), Format: g.Settings.InputFormat(),
	}
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
	return p, err
}

// withoutMessages returns what the model gets for r besides the messages.
func (g *Generator) withoutMessages(r *Response) pipeline.Request {
	q := g.Settings.ModelRequest(r.request)
	q.MaxOutputTokens, q.Spoken = r.object.MaxOutputTokens.N, r.spoken
	g.offer(r, &q)
	return q
}

// changesWindow reports whether a request has settings of its own that change how much of the conversation fits into the model's window.
func changesWindow(q *wire.ResponseParams) bool {
	return q != nil && (q.Instructions != nil || q.Prompt != nil || q.HasTools || q.MaxOutputTokens != nil)
}
