package session

import (
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// stillThere is what the model reads when idle_timeout_ms has passed.
const stillThere = "The user has said nothing for a while. Ask whether they are still there."

// modelRequest is everything the model gets for r: a snapshot. An error says that it cannot be asked.
func (s *Session) modelRequest(r *reply) (pipeline.Request, error) {
	set := &s.settings
	q := pipeline.Request{
		Model: set.Model, Instructions: s.instructions(r.request),
		MaxOutputTokens: r.object.MaxOutputTokens.N, Parallel: set.ParallelToolCalls, Voice: r.spoken,
	}
	tools, choice := set.Tools, set.ToolChoice
	var lines []line
	if p := r.request; p != nil && p.HasInput {
		lines = s.inputLines(p.Input)
	} else {
		lines = s.transcript()
	}
	if p := r.request; p != nil {
		if p.HasTools {
			tools = p.Tools
		}
		if p.ToolChoice != nil {
			choice = p.ToolChoice
		}
		if p.ParallelToolCalls != nil {
			q.Parallel = *p.ParallelToolCalls
		}
	}
	q.ToolChoice = toolChoice(choice)
	for _, t := range tools {
		q.Tools = append(q.Tools, pipeline.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	if r.turn != nil && r.turn.wordless {
		m := pipeline.Message{Role: pipeline.RoleSystem, Text: stillThere}
		lines = append(lines, line{m, s.messageTokens(m), nil})
	}
	lines, err := s.fit(&q, lines)
	r.single = !q.Parallel
	r.asked = s.instructionTokens(&q)
	q.Messages = make([]pipeline.Message, 0, len(lines))
	for _, l := range lines {
		q.Messages = append(q.Messages, l.message)
		r.asked += l.tokens
	}
	return q, err
}

// instructions are the request's own, else those of its prompt, else the session's, else those of the session's prompt.
func (s *Session) instructions(p *wire.ResponseParams) string {
	switch {
	case p != nil && p.Instructions != nil:
		return *p.Instructions
	case p != nil && p.Prompt != nil:
		return promptText(s.cfg.Pipeline, p.Prompt)
	case s.settings.Instructions != "":
		return s.settings.Instructions
	}
	return promptText(s.cfg.Pipeline, s.settings.Prompt)
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
