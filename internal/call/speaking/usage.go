package speaking

// The usage of a response in tokens, and its limits of plausibility.

import (
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// mostTokens is more than any model reads or says at once. A model that claims more is not believed: the budget is the
// client's.
const mostTokens = 1 << 20

func plausible(u pipeline.Usage) pipeline.Usage {
	return pipeline.Usage{InputTokens: min(max(u.InputTokens, 0), mostTokens), OutputTokens: min(max(u.OutputTokens, 0), mostTokens)}
}

// samplesPerToken is how audio is counted: one token for 100 ms, as the protocol's own service counts input audio.
const samplesPerToken = room.OutputRate / 10

// usage returns the tokens of r as the model counts them, with the audio. The model of a cut response has not reported its tokens, so
// they are counted here.
func (g *Generator) usage(r *Response) *wire.Usage {
	spent := r.cost.usage
	if !r.cost.counted && r.body != nil {
		spent = pipeline.Usage{InputTokens: r.cost.prompt}
		for _, o := range r.text.items {
			spent.OutputTokens += g.Conversation.Tokens(o.text.String())
		}
	}
	u := &wire.Usage{InputTokens: spent.InputTokens, OutputTokens: spent.OutputTokens}
	u.InputTokenDetails.TextTokens = u.InputTokens
	u.OutputTokenDetails.TextTokens = u.OutputTokens
	if r.spoken {
		u.OutputTokenDetails.AudioTokens = int((r.track.Length() + samplesPerToken - 1) / samplesPerToken)
		u.OutputTokens += u.OutputTokenDetails.AudioTokens
	}
	u.TotalTokens = u.InputTokens + u.OutputTokens
	return u
}
