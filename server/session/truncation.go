package session

import (
	"errors"
	"slices"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/wire"
)

// What a model gets of a conversation that is longer than its window: the session's truncation.

// maxAnswer is the part of a window that is kept free for an answer without a limit of its own: the protocol's largest limit.
const maxAnswer = 4096

// errTooLong fails a response whose conversation does not fit where nothing of it may be left out.
var errTooLong = errors.New("the conversation is longer than the session's truncation lets the model read: " +
	"delete items, or set truncation to \"auto\"")

// codeTooLong is errTooLong's code for the client.
const codeTooLong = "context_length_exceeded"

// tokens is how many tokens a text has for the model, or about how many.
func (s *Session) tokens(text string) int {
	if c, ok := s.cfg.Pipeline.Model.(pipeline.TokenCounter); ok {
		return c.CountTokens(text)
	}
	return (len(text) + 3) / 4
}

func (s *Session) window() int {
	if c, ok := s.cfg.Pipeline.Model.(pipeline.TokenCounter); ok {
		return c.ContextWindow()
	}
	return pipeline.DefaultContextWindow
}

// imageTokens is what an image is counted for, where nobody knows better.
const imageTokens = 85

func (s *Session) messageTokens(m pipeline.Message) int {
	n := s.tokens(m.Text) + imageTokens*len(m.Images)
	if m.Call != nil {
		n += 1 + s.tokens(m.Call.Arguments)
	}
	if m.Result != nil {
		n += s.tokens(m.Result.Output)
	}
	return n
}

// line is a message on its way to the model, and the item that it was.
type line struct {
	message pipeline.Message
	tokens  int
	it      *item // nil for what is not in the conversation
}

// transcript is what of the conversation the model may still get.
func (s *Session) transcript() []line {
	out := make([]line, 0, len(s.conversation.items))
	for _, it := range s.conversation.items {
		if m, ok := message(it.Item); ok && !it.left {
			out = append(out, line{m, s.messageTokens(m), it})
		}
	}
	return out
}

// fit leaves out of lines what is too much for q, the oldest first, as the session's truncation says. What is left out of the
// conversation stays left out: a model that remembers what it has read last then reads the same again.
func (s *Session) fit(q *pipeline.Request, lines []line) ([]line, error) {
	current := s.settings.Current()
	set := current.Truncate()
	limit := s.room(q)
	if set.PostInstructions > 0 {
		limit = min(limit, set.PostInstructions)
	}
	total := 0
	for _, l := range lines {
		total += l.tokens
	}
	if total <= limit {
		return lines, nil
	}
	if set.Disabled {
		return nil, errTooLong
	}
	goal := int(set.Retain * float64(limit))
	n := 0
	for ; n < len(lines)-1 && total > goal; n++ {
		total -= lines[n].tokens
	}
	kept := withCalls(lines[n:])
	for _, l := range lines {
		if l.it != nil && !slices.ContainsFunc(kept, func(k line) bool { return k.it == l.it }) {
			l.it.left = true
		}
	}
	s.log.Info("the oldest messages are left out of what the model gets", "left_out", len(lines)-len(kept), "of", len(lines), "tokens", total)
	return kept, nil
}

// room is how many tokens are left for the conversation, beside q's instructions, its tools and its answer.
func (s *Session) room(q *pipeline.Request) int {
	answer := maxAnswer
	if q.MaxOutputTokens > 0 {
		answer = q.MaxOutputTokens
	}
	return s.window() - min(answer, s.window()/2) - s.instructionTokens(q)
}

func (s *Session) instructionTokens(q *pipeline.Request) int {
	n := s.tokens(q.Instructions)
	for _, t := range q.Tools {
		n += s.tokens(t.Description) + s.tokens(string(t.Parameters))
	}
	return n
}

// withCalls drops the results of calls that are not there: a model cannot read them.
func withCalls(lines []line) []line {
	calls := map[string]bool{}
	out := lines[:0:0]
	for i, l := range lines {
		if c := l.message.Call; c != nil {
			calls[c.ID] = true
		}
		r := l.message.Result
		if last := i == len(lines)-1; r == nil || calls[r.CallID] || last {
			out = append(out, l)
		}
	}
	return out
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
			spent.OutputTokens += s.tokens(o.text)
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
