package llm

// The form of /responses: the request, and the events of its answer.

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// responses is the form of /responses.
type responses struct{}

func (responses) path() string { return "responses" }

func (responses) fill(body map[string]any, r pipeline.Request, c *Config) {
	body["input"] = inputItems(r, c.Interruption)
	body["store"] = false
	if r.Instructions != "" {
		body["instructions"] = r.Instructions
	}
	if r.MaxOutputTokens > 0 {
		body["max_output_tokens"] = r.MaxOutputTokens
	}
	if len(r.Tools) == 0 {
		return
	}
	tools := make([]any, 0, len(r.Tools))
	for _, t := range r.Tools {
		tools = append(tools, map[string]any{
			"type": "function", "name": t.Name, "description": t.Description, "parameters": parameters(t), "strict": false,
		})
	}
	body["tools"] = tools
	switch r.ToolChoice {
	case "", "auto":
	case "none", "required":
		body["tool_choice"] = r.ToolChoice
	default:
		body["tool_choice"] = map[string]any{"type": "function", "name": r.ToolChoice}
	}
	if !r.ParallelToolCalls {
		body["parallel_tool_calls"] = false
	}
}

// inputItems returns the messages of a request as items.
func inputItems(r pipeline.Request, note string) []any {
	out := make([]any, 0, len(r.Messages))
	answered, called := map[string]bool{}, map[string]bool{}
	for _, m := range r.Messages {
		if m.Result != nil {
			answered[m.Result.CallID] = true
		}
	}
	for i, m := range r.Messages {
		switch {
		case m.Call != nil:
			called[m.Call.ID] = true
			out = append(out, map[string]any{"type": "function_call", "call_id": m.Call.ID, "name": m.Call.Name, "arguments": m.Call.Arguments})
			if !answered[m.Call.ID] {
				out = append(out, map[string]any{"type": "function_call_output", "call_id": m.Call.ID, "output": noResult})
			}
		case m.Result != nil && called[m.Result.CallID]:
			out = append(out, map[string]any{"type": "function_call_output", "call_id": m.Result.CallID, "output": m.Result.Output})
		case m.Result != nil:
			out = append(out, inputMessage(pipeline.Message{Role: pipeline.RoleUser, Text: "The result of a tool: " + m.Result.Output}, ""))
		default:
			out = append(out, inputMessage(m, interruption(r.Messages, i, note)))
		}
	}
	return out
}

func inputMessage(m pipeline.Message, note string) any {
	kind := "input_text"
	if m.Role == pipeline.RoleAssistant {
		kind = "output_text"
	}
	var parts []any
	if note+m.Text != "" {
		parts = append(parts, map[string]any{"type": kind, "text": note + m.Text})
	}
	for _, image := range m.Images {
		part := map[string]any{"type": "input_image", "image_url": dataURL(image)}
		if image.Detail != "" {
			part["detail"] = image.Detail
		}
		parts = append(parts, part)
	}
	return map[string]any{"type": "message", "role": m.Role, "content": parts}
}

// responseEvent is one event of the answer.
type responseEvent struct {
	Type        string
	Delta       string
	OutputIndex int    `json:"output_index"`
	Arguments   string // all arguments of a tool call
	Item        *outputItem
	Response    *wholeResponse
}

// outputItem is an item of an answer.
type outputItem struct {
	Type, Name, Arguments string
	CallID                string `json:"call_id"`
	Content               []struct{ Type, Text, Refusal string }
}

// wholeResponse is an answer, at its end.
type wholeResponse struct {
	Status  string
	Output  []outputItem
	Error   json.RawMessage
	Details *struct{ Reason string } `json:"incomplete_details"`
	Usage   *struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	}
}

func (responses) read(a *answer, e remote.Event) error {
	if e.Data == "[DONE]" {
		return io.EOF
	}
	var ev responseEvent
	if err := a.model.decode(e.Data, &ev); err != nil {
		return err
	}
	switch ev.Type {
	case "response.output_text.delta", "response.refusal.delta":
		return a.say(ev.Delta)
	case "response.output_item.added", "response.output_item.done":
		if ev.Item != nil && ev.Item.Type == "function_call" {
			return a.call(ev.Item.piece(ev.OutputIndex))
		}
		if ev.Item != nil && ev.Item.Type == "reasoning" {
			return a.thought()
		}
	case "response.function_call_arguments.delta":
		return a.call(callPiece{index: ev.OutputIndex, arguments: ev.Delta})
	case "response.function_call_arguments.done":
		return a.call(callPiece{index: ev.OutputIndex, arguments: a.calls.missing(ev.OutputIndex, ev.Arguments)})
	case "response.completed", "response.incomplete":
		if ev.Response != nil {
			ev.Response.close(a)
		}
		a.ends(finishStop)
		return io.EOF
	case "response.failed", "response.cancelled", "error":
		return a.fails(failure(e.Data, ev.Response))
	default:
		if strings.HasPrefix(ev.Type, "response.reasoning") {
			return a.thought()
		}
	}
	return nil
}

// piece returns a tool call as the piece with which it begins, or which has all of it.
func (i *outputItem) piece(index int) callPiece {
	return callPiece{index: index, id: i.CallID, name: i.Name, arguments: i.Arguments}
}

// failure returns the part of an event that says what failed.
func failure(data string, r *wholeResponse) string {
	if r != nil && given(r.Error) {
		return `{"error":` + string(r.Error) + `}`
	}
	return data
}

// close takes the usage and the end of an answer.
func (r *wholeResponse) close(a *answer) {
	if r.Usage != nil {
		a.usage = &pipeline.Usage{InputTokens: r.Usage.Input, OutputTokens: r.Usage.Output}
	}
	if r.Status != "incomplete" {
		return
	}
	if r.Details != nil && r.Details.Reason == finishFilter {
		a.ends(finishFilter)
	}
	a.ends(finishLength)
}

func (responses) whole(a *answer, text []byte) error {
	var r wholeResponse
	if err := a.model.decode(string(text), &r); err != nil {
		return err
	}
	if given(r.Error) || r.Status == "failed" {
		return a.fails(failure(string(text), &r))
	}
	for i, item := range r.Output {
		if item.Type == "function_call" {
			if err := a.call(item.piece(i)); err != nil {
				return err
			}
		}
		for _, part := range item.Content {
			if item.Type != "message" {
				continue
			}
			if err := a.say(part.Text + part.Refusal); err != nil {
				return err
			}
		}
	}
	if r.close(a); r.Status == "completed" {
		a.ends(finishStop)
	}
	return nil
}
