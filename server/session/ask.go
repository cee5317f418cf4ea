package session

// What the model is asked, and what a response has cost.

import (
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/session/conversation"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/wire"
)

// modelRequest is everything the model gets for r. An error says that the model cannot be asked.
func (s *Session) modelRequest(r *reply) (pipeline.Request, error) {
	q := s.settings.ModelRequest(r.request)
	q.MaxOutputTokens, q.Spoken = r.object.MaxOutputTokens.N, r.spoken
	current := s.settings.Current()
	ask := conversation.Ask{Idle: r.turn != nil && r.turn.Wordless, Truncation: current.Truncate()}
	if p := r.request; p != nil {
		ask.Input, ask.HasInput = p.Input, p.HasInput
	}
	prompt, err := s.conversation.Request(q, ask)
	if err == nil && prompt.Left > 0 {
		s.log.Info("the oldest messages are left out of what the model gets", "left_out", prompt.Left, "of", prompt.Messages, "tokens", prompt.Tokens)
	}
	r.single, r.asked = !q.ParallelToolCalls, prompt.Tokens
	return prompt.Request, err
}

// mostTokens is more than any model reads or says at once. One that claims more is not believed: the budget is the client's.
const mostTokens = 1 << 20

func plausible(u pipeline.Usage) pipeline.Usage {
	return pipeline.Usage{InputTokens: min(max(u.InputTokens, 0), mostTokens), OutputTokens: min(max(u.OutputTokens, 0), mostTokens)}
}

// usage counts as the model does; audio is counted as one token per 100 ms, as the protocol's own service does for input. What
// a response that was cut off has cost is counted here: its model has not said it yet.
func (s *Session) usage(r *reply) *wire.Usage {
	spent := r.usage
	if !r.counted && r.body != nil {
		spent = pipeline.Usage{InputTokens: r.asked}
		for _, o := range r.outputs {
			spent.OutputTokens += s.conversation.Tokens(o.text)
		}
	}
	u := &wire.Usage{InputTokens: spent.InputTokens, OutputTokens: spent.OutputTokens}
	u.InputTokenDetails.TextTokens = u.InputTokens
	u.OutputTokenDetails.TextTokens = u.OutputTokens
	if r.spoken {
		u.OutputTokenDetails.AudioTokens = int((r.track.Length() + format.OutputRate/10 - 1) / (format.OutputRate / 10))
		u.OutputTokens += u.OutputTokenDetails.AudioTokens
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}
