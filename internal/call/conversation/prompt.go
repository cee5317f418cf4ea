package conversation

// What the model is asked: the prompt messages of a response.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// stillThere is the text for the model when idle_timeout_ms has passed.
const stillThere = "The user has said nothing for a while. Ask whether they are still there."

// Ask describes the model's input for a response.
type Ask struct {
	Input    []wire.Item // the response's own input, where HasInput is set; else the model reads the conversation
	HasInput bool
	Made     []*Item // the items that the response has made already; the model reads them after Input
	Idle     bool    // the user has said nothing for idle_timeout_ms
	// Said is what the user has said that is not an item yet; "" for nothing. Then no message may be left out.
	Said string
	// From: Said stands for the item with this number and those after it, too; 0 for none.
	From       machine.Item
	Truncation wire.Truncation
	// Once: messages that do not fit are left out of this request only. Without Once, later requests leave them out, too.
	Once   bool
	Format string // the format of audio in Input, such as wire.FormatPCM
}

// Prompt is a request that is ready for the model.
type Prompt struct {
	Request  pipeline.Request
	Tokens   int // how many tokens instructions, tools and messages have
	Left     int // messages that were left out to fit, of Messages
	Messages int
}

// promptMessage is one message of the model's input.
type promptMessage struct {
	message pipeline.Message
	tokens  int
	it      *Item // nil for a message that is no item of the conversation
}

// Request adds to q, which has everything else, the messages that a asks for. It leaves out the oldest messages when they are too long for the model. An ErrTooLong says that the
// messages do not fit and that nothing may be left out; the prompt then has no messages.
func (c *Conversation) Request(q pipeline.Request, a Ask) (Prompt, error) {
	var all []promptMessage
	if a.HasInput {
		all = append(c.inputMessages(a.Input, a.Format), c.messagesOf(a.Made)...)
	} else {
		items := c.upTo(a.Made)
		if at, _ := c.span(a.From, 0); a.From != 0 && at >= 0 {
			items = items[:at]
		}
		all = c.messagesOf(items)
		if c.summary != "" {
			q.Instructions += summaryHead + c.summary
		}
	}
	if a.Idle {
		all = append(all, c.prompt(pipeline.Message{Role: pipeline.RoleSystem, Text: stillThere}, nil))
	}
	if a.Said != "" {
		all = append(all, c.prompt(pipeline.Message{Role: pipeline.RoleUser, Text: a.Said}, nil))
		a.Truncation.Disabled = true
	}
	kept, err := c.fit(&q, all, a)
	p := Prompt{Tokens: c.instructionTokens(&q), Left: len(all) - len(kept), Messages: len(all)}
	q.Messages = make([]pipeline.Message, 0, len(kept))
	for _, m := range kept {
		q.Messages = append(q.Messages, m.message)
		p.Tokens += m.tokens
	}
	p.Request = q
	return p, err
}

// prompt returns a message with its tokens; it is nil for a message that is no item of the conversation.
func (c *Conversation) prompt(m pipeline.Message, it *Item) promptMessage {
	return promptMessage{m, c.messageTokens(m), it}
}

// upTo returns the items up to the last one that a response has made: what the user says meanwhile has a response of its own.
func (c *Conversation) upTo(made []*Item) []*Item {
	for i := len(made) - 1; i >= 0; i-- {
		if at := slices.Index(c.items, made[i]); at >= 0 {
			return c.items[:at+1]
		}
	}
	return c.items
}

// messagesOf returns the messages of items, without those that the model does not get.
func (c *Conversation) messagesOf(items []*Item) []promptMessage {
	out := make([]promptMessage, 0, len(items))
	for _, it := range items {
		if it.left || it.summarised {
			continue
		}
		for _, m := range messages(it.Item, c.speechOf(it)) {
			m.Interrupted = it.cut && !it.silent
			out = append(out, c.prompt(m, it))
		}
	}
	return out
}

// inputMessages returns the messages of a response's own input: items, and references to items of the conversation. name is the format of audio in it.
func (c *Conversation) inputMessages(items []wire.Item, name string) []promptMessage {
	var out []promptMessage
	spoken, pcm := c.spoken(items, name)
	for i, w := range items {
		interrupted := false
		if w.Type == wire.ItemReference {
			it := c.Find(w.ID)
			if it == nil {
				continue // it was deleted meanwhile
			}
			w, interrupted = it.Item, it.cut && !it.silent
		}
		var audio []int16
		if i == spoken {
			audio = pcm
		}
		for _, m := range messages(w, audio) {
			m.Interrupted = interrupted
			out = append(out, c.prompt(m, nil))
		}
	}
	return out
}

// The result of a tool of the server, for the model, while the tool runs, and the words before the error of one that has failed.
const (
	stillRuns  = "The tool is still running. Its result is not known yet."
	awaited    = "The call waits for the user's approval, or the tool is still running. Its result is not known yet."
	toolFailed = "The tool has failed: "
)

// messages returns the prompt messages of an item: none when the item has nothing for a model, and two for a call of a tool of the server. pcm is
// the item's audio, for a model that hears.
func messages(w wire.Item, pcm []int16) []pipeline.Message {
	if w.Type != wire.ItemMCPCall {
		if m, ok := message(w, pcm); ok {
			return []pipeline.Message{m}
		}
		return nil
	}
	if w.Arguments == "" || w.Status == statusIncomplete { // the model was stopped before the arguments were complete
		return nil
	}
	output := w.Output
	if w.Error != nil {
		field, _ := w.Error.Field("message")
		text, _ := field.Text()
		output = toolFailed + text
	} else if w.Status != statusCompleted { // the response may have ended meanwhile
		output = stillRuns
		if w.ApprovalRequestID != "" {
			output = awaited
		}
	}
	return []pipeline.Message{
		{Role: pipeline.RoleAssistant, Call: &pipeline.ToolCall{ID: w.ID, Name: w.Name, Arguments: w.Arguments}},
		{Role: pipeline.RoleUser, Result: &pipeline.ToolResult{CallID: w.ID, Output: output}},
	}
}

// message returns the prompt message of an item; false when the item has nothing for a model. pcm is the item's audio, for a model that hears.
func message(w wire.Item, pcm []int16) (pipeline.Message, bool) {
	switch w.Type {
	case wire.ItemMessage:
		m := pipeline.Message{Role: w.Role, Text: contentText(w.Content), Images: images(w.Content), Audio: audio(w, pcm)}
		return m, m.Text != "" || m.Images != nil || m.Audio != nil
	case wire.ItemFunctionCall:
		call := pipeline.ToolCall{ID: w.CallID, Name: w.Name, Arguments: cmp.Or(w.Arguments, NoArguments)}
		return pipeline.Message{Role: pipeline.RoleAssistant, Call: &call}, w.Status != statusIncomplete
	case wire.ItemFunctionCallOutput:
		result := pipeline.ToolResult{CallID: w.CallID, Output: w.Output}
		return pipeline.Message{Role: pipeline.RoleUser, Result: &result}, true
	}
	return pipeline.Message{}, false
}

// contentText returns the text and the transcripts of a message, one line for each part that has some.
func contentText(parts []wire.Content) string {
	var text strings.Builder
	for _, p := range parts {
		t := p.Text
		if p.Transcript != nil {
			t = *p.Transcript
		}
		if t != "" && text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(t)
	}
	return text.String()
}
