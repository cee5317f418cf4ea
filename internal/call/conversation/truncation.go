package conversation

// Truncation: which of the oldest messages the model does not get when the conversation is longer than its window.

import (
	"errors"
	"slices"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxAnswer is how many tokens of a window are kept free for a response without a limit of its own: the protocol's largest limit.
const maxAnswer = 4096

// ErrTooLong fails a response whose messages do not fit where nothing may be left out.
var ErrTooLong = errors.New("the conversation is longer than the session's truncation lets the model read: " +
	"delete items, or set truncation to \"auto\"")

// CodeTooLong is ErrTooLong's code for the client.
const CodeTooLong = "context_length_exceeded"

// imageTokens is how many tokens an image is counted as. No model says how many it has.
const imageTokens = 85

// Tokens returns how many tokens a text has for the model, or about how many when the model does not count them.
func (c *Conversation) Tokens(text string) int {
	if m, ok := c.model.(pipeline.TokenCounter); ok {
		return m.CountTokens(text)
	}
	return (len(text) + 3) / 4
}

// window returns how many tokens the model reads and writes at most.
func (c *Conversation) window() int {
	if m, ok := c.model.(pipeline.TokenCounter); ok {
		return m.ContextWindow()
	}
	return pipeline.DefaultContextWindow
}

func (c *Conversation) messageTokens(m pipeline.Message) int {
	n := c.Tokens(m.Text) + imageTokens*len(m.Images)
	if m.Audio != nil {
		n += audioTokens * len(m.Audio.PCM) / pipeline.AudioRate
	}
	if m.Call != nil {
		n += 1 + c.Tokens(m.Call.Arguments)
	}
	if m.Result != nil {
		n += c.Tokens(m.Result.Output)
	}
	return n
}

func (c *Conversation) instructionTokens(q *pipeline.Request) int {
	n := c.Tokens(q.Instructions)
	for _, t := range q.Tools {
		n += c.Tokens(t.Description) + c.Tokens(string(t.Parameters))
	}
	return n
}

// fit leaves out the oldest of messages when they are too long for q, as a.Truncation says, and returns the rest. Unless a.Once is set, an item
// that is left out stays left out of later requests: a model that remembers what it has read last then reads the same text again.
func (c *Conversation) fit(q *pipeline.Request, messages []promptMessage, a Ask) ([]promptMessage, error) {
	set := a.Truncation
	limit := c.room(q)
	if set.PostInstructions > 0 {
		limit = min(limit, set.PostInstructions)
	}
	total := 0
	for _, m := range messages {
		total += m.tokens
	}
	if total <= limit {
		return messages, nil
	}
	if set.Disabled {
		return nil, ErrTooLong
	}
	goal := int(set.Retain * float64(limit))
	n := 0
	for ; n < len(messages)-1 && total > goal; n++ {
		total -= messages[n].tokens
	}
	for n > 0 && messages[n].it != nil && messages[n].it == messages[n-1].it { // the call and the result of one item stay together
		n--
	}
	kept := withCalls(messages[n:])
	for _, m := range messages {
		if !a.Once && m.it != nil && !slices.ContainsFunc(kept, func(k promptMessage) bool { return k.it == m.it }) {
			m.it.left = true
		}
	}
	return kept, nil
}

// room returns how many tokens of the window are left for messages: without q's instructions, its tools and its answer.
func (c *Conversation) room(q *pipeline.Request) int {
	answer := maxAnswer
	if q.MaxOutputTokens > 0 {
		answer = q.MaxOutputTokens
	}
	return c.window() - min(answer, c.window()/2) - c.instructionTokens(q)
}

// withCalls drops the results of tool calls that are not among messages: a model cannot read them. The last message stays.
func withCalls(messages []promptMessage) []promptMessage {
	calls := map[string]bool{}
	out := messages[:0:0]
	for i, m := range messages {
		if call := m.message.Call; call != nil {
			calls[call.ID] = true
		}
		r := m.message.Result
		if last := i == len(messages)-1; r == nil || calls[r.CallID] || last {
			out = append(out, m)
		}
	}
	return out
}
