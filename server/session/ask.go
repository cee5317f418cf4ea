package session

import (
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// stillThere is what the model reads when idle_timeout_ms has passed.
const stillThere = "The user has said nothing for a while. Ask whether they are still there."

// modelRequest is everything the model gets for r: a snapshot. An error says that it cannot be asked.
func (s *Session) modelRequest(r *reply) (pipeline.Request, error) {
	q := s.settings.ModelRequest(r.request)
	q.MaxOutputTokens, q.Spoken = r.object.MaxOutputTokens.N, r.spoken
	var lines []line
	if p := r.request; p != nil && p.HasInput {
		lines = s.inputLines(p.Input)
	} else {
		lines = s.transcript()
	}
	if r.turn != nil && r.turn.Wordless {
		m := pipeline.Message{Role: pipeline.RoleSystem, Text: stillThere}
		lines = append(lines, line{m, s.messageTokens(m), nil})
	}
	lines, err := s.fit(&q, lines)
	r.single = !q.ParallelToolCalls
	r.asked = s.instructionTokens(&q)
	q.Messages = make([]pipeline.Message, 0, len(lines))
	for _, l := range lines {
		q.Messages = append(q.Messages, l.message)
		r.asked += l.tokens
	}
	return q, err
}

// inputLines are a response's own input: items, and references to those of the conversation.
func (s *Session) inputLines(items []wire.Item) []line {
	var out []line
	for _, w := range items {
		if w.Type == wire.ItemReference {
			it, _ := s.conversation.find(w.ID)
			if it == nil {
				continue // it was deleted meanwhile
			}
			w = it.Item
		}
		if m, ok := message(w); ok {
			out = append(out, line{m, s.messageTokens(m), nil})
		}
	}
	return out
}
