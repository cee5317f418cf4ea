package llm

// The form of /chat/completions: the request, and the events of its answer.

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// chat is the form of /chat/completions.
type chat struct{}

func (chat) path() string { return "chat/completions" }

func (chat) fill(body map[string]any, r pipeline.Request, c *Config) {
	body["messages"] = chatMessages(r, c.Interruption)
	body["stream_options"] = map[string]any{"include_usage": true}
	if r.MaxOutputTokens > 0 {
		body["max_tokens"] = r.MaxOutputTokens
	}
	if len(r.Tools) == 0 {
		return
	}
	tools := make([]any, 0, len(r.Tools))
	for _, t := range r.Tools {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{
			"name": t.Name, "description": t.Description, "parameters": parameters(t),
		}})
	}
	body["tools"] = tools
	switch r.ToolChoice {
	case "", "auto":
	case "none", "required":
		body["tool_choice"] = r.ToolChoice
	default:
		body["tool_choice"] = map[string]any{"type": "function", "function": map[string]any{"name": r.ToolChoice}}
	}
	if !r.ParallelToolCalls {
		body["parallel_tool_calls"] = false
	}
}

func parameters(t pipeline.Tool) json.RawMessage {
	if len(t.Parameters) == 0 || !json.Valid(t.Parameters) {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Parameters
}

// chatMessage is one message of the request.
type chatMessage struct {
	Role       string     `json:"role"`
	Content    any        `json:"content,omitempty"` // a string, or parts
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// noResult stands for the result of a tool call that has none yet. Servers refuse a call without a result.
const noResult = "There is no result yet."

// chatMessages returns the messages of a request. Servers want the results of a message's tool calls directly behind that message.
func chatMessages(r pipeline.Request, note string) []chatMessage {
	var out []chatMessage
	if r.Instructions != "" {
		out = append(out, chatMessage{Role: pipeline.RoleSystem, Content: r.Instructions})
	}
	results := map[string]string{}
	for _, m := range r.Messages {
		if m.Result != nil {
			results[m.Result.CallID] = m.Result.Output
		}
	}
	var called []string // the ids of all calls
	for i, m := range r.Messages {
		switch {
		case m.Call != nil:
			last := len(out) - 1
			if i == 0 || r.Messages[i-1].Role != pipeline.RoleAssistant || r.Messages[i-1].Result != nil || last < 0 {
				out = append(out, chatMessage{Role: pipeline.RoleAssistant})
				last++
			}
			out[last].ToolCalls = append(out[last].ToolCalls, chatCall{m.Call.ID, "function", chatFunction{m.Call.Name, m.Call.Arguments}})
			called = append(called, m.Call.ID)
			if next := i + 1; next < len(r.Messages) && r.Messages[next].Call != nil {
				continue
			}
			out = append(out, callResults(out[last].ToolCalls, results)...)
		case m.Result != nil:
			if !slices.Contains(called, m.Result.CallID) {
				out = append(out, chatMessage{Role: pipeline.RoleUser, Content: "The result of a tool: " + m.Result.Output})
			}
		default:
			out = append(out, chatMessage{Role: m.Role, Content: chatContent(m, interruption(r.Messages, i, note))})
		}
	}
	return out
}

func callResults(of []chatCall, results map[string]string) []chatMessage {
	var out []chatMessage
	for _, call := range of {
		output, ok := results[call.ID]
		if !ok {
			output = noResult
		}
		out = append(out, chatMessage{Role: "tool", ToolCallID: call.ID, Content: output})
	}
	return out
}

// interruption returns the note before a message of the user that interrupted the answer before it; empty for another message.
func interruption(all []pipeline.Message, i int, note string) string {
	if i == 0 || note == "" || all[i].Role != pipeline.RoleUser || all[i].Result != nil || !all[i-1].Interrupted {
		return ""
	}
	return note + "\n"
}

// chatContent returns the content of a message: a text, or parts if there are images or audio. Audio stands in place of its transcript.
func chatContent(m pipeline.Message, note string) any {
	if len(m.Images) == 0 && m.Audio == nil {
		return note + m.Text
	}
	text := note + m.Text
	if m.Audio != nil {
		text = note + m.Audio.Rest
	}
	var parts []any
	if text != "" {
		parts = append(parts, map[string]any{"type": "text", "text": text})
	}
	if m.Audio != nil {
		parts = append(parts, map[string]any{"type": "input_audio", "input_audio": map[string]any{"data": wavFile(m.Audio.PCM), "format": "wav"}})
	}
	for _, image := range m.Images {
		url := map[string]any{"url": dataURL(image)}
		if image.Detail != "" {
			url["detail"] = image.Detail
		}
		parts = append(parts, map[string]any{"type": "image_url", "image_url": url})
	}
	return parts
}

// wavFile returns audio as a WAV file in base64.
func wavFile(pcm []int16) string {
	return base64.StdEncoding.EncodeToString(voice.PCM16ToBytes(wav.Header(pipeline.AudioRate, 2*len(pcm)), pcm))
}

func dataURL(i pipeline.Image) string {
	return "data:" + i.MIME + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

// chunk is one event of the answer, or an answer that is not streamed.
type chunk struct {
	Object  string
	Choices []struct {
		Delta        *chatDelta
		Message      *chatDelta
		FinishReason string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	}
	Error json.RawMessage
}

// chatDelta is the next piece of an answer.
type chatDelta struct {
	Content          json.RawMessage
	Refusal          string
	Reasoning        json.RawMessage
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	ToolCalls        []struct {
		Index    *int
		ID       string
		Function struct {
			Name      string
			Arguments json.RawMessage
		}
	} `json:"tool_calls"`
}

func (chat) read(a *answer, e remote.Event) error {
	if e.Data == "[DONE]" {
		a.ends(finishStop)
		return io.EOF
	}
	return takeChunk(a, e.Data)
}

func (chat) whole(a *answer, text []byte) error { return takeChunk(a, string(text)) }

func takeChunk(a *answer, data string) error {
	var c chunk
	if err := a.model.decode(data, &c); err != nil {
		return err
	}
	if given(c.Error) || c.Object == "error" {
		return a.fails(data)
	}
	if c.Usage != nil {
		a.usage = &pipeline.Usage{InputTokens: c.Usage.Prompt, OutputTokens: c.Usage.Completion}
	}
	if len(c.Choices) == 0 {
		return nil
	}
	first := c.Choices[0]
	for _, d := range []*chatDelta{first.Delta, first.Message} {
		if d == nil {
			continue
		}
		if err := d.take(a); err != nil {
			return err
		}
	}
	switch first.FinishReason {
	case "":
	case finishLength, finishFilter:
		a.ends(first.FinishReason)
	default:
		a.ends(finishStop)
	}
	return nil
}

func given(field json.RawMessage) bool {
	switch string(field) {
	case "", "null", `""`, "[]", "{}":
		return false
	}
	return true
}

// take gives the pieces of a delta to an answer.
func (d *chatDelta) take(a *answer) error {
	if given(d.Reasoning) || given(d.ReasoningContent) {
		if err := a.thought(); err != nil {
			return err
		}
	}
	spoken, thought := content(d.Content)
	if thought {
		if err := a.thought(); err != nil {
			return err
		}
	}
	if err := a.say(spoken + d.Refusal); err != nil {
		return err
	}
	for _, t := range d.ToolCalls {
		p := callPiece{index: -1, id: t.ID, name: t.Function.Name, arguments: arguments(t.Function.Arguments)}
		if t.Index != nil {
			p.index = *t.Index
		}
		if err := a.call(p); err != nil {
			return err
		}
	}
	return nil
}

// content returns the text of a content field, which is a string or a list of parts, and whether a part is a thought.
func content(field json.RawMessage) (text string, thought bool) {
	if !given(field) || json.Unmarshal(field, &text) == nil {
		return text, false
	}
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(field, &parts) // another form has no text for us
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" {
			text += p.Text
		} else {
			thought = true
		}
	}
	return text, thought
}

// arguments returns the arguments of a tool call as JSON text. Most servers send that text in a string, some send the object.
func arguments(field json.RawMessage) string {
	var text string
	if len(field) == 0 || json.Unmarshal(field, &text) == nil {
		return text
	}
	return string(field)
}
