package sdk

// The agent's tool calls: they run, and the server gets their results.

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/sdk/internal/outgoing"
	"github.com/antiphon-rt/antiphon/sdk/internal/tools"
	"github.com/antiphon-rt/antiphon/sdk/internal/words"
	"github.com/antiphon-rt/antiphon/wire"
)

// byName returns the tools by name.
func byName(list []Tool) map[string]Tool {
	named := make(map[string]Tool, len(list))
	for _, tool := range list {
		named[tool.Name] = tool
	}
	return named
}

// runTool handles a tool call that the agent has finished making.
func (s *Session) runTool(told *wire.Item) {
	if told.CallID == "" {
		s.trace("a function call without a call_id was left out")
		return
	}
	switch call, outcome := s.tools.Take(told.CallID, told.Name, told.Arguments); outcome {
	case tools.Foreign:
	case tools.Twice:
		s.trace("a function call came twice: it was run once")
	case tools.Unknown:
		s.toolAnswer(call, "there is no tool with the name "+told.Name, true)
	case tools.TooMany:
		s.toolAnswer(call, "too many tools are waiting to run", true)
	case tools.Queued:
		s.startTools()
	}
}

// startTools runs as many of the waiting calls as may run at once.
func (s *Session) startTools() {
	c := s.call
	for {
		call, ok := s.tools.Next(s.limits.ToolsAtOnce)
		if !ok {
			return
		}
		s.background(c, func() {
			output, err := s.callTool(c.ctx, call)
			s.queue.must(s.job(func() { s.toolRan(c, call, output, err) }))
		})
	}
}

// callTool runs a tool for at most Limits.ToolTime, measured by the session's Clock. A tool that ends because its time is over
// fails with context.DeadlineExceeded.
func (s *Session) callTool(ctx context.Context, call tools.Call[Tool]) (output string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var late atomic.Bool
	stop := s.clock.AfterFunc(s.limits.ToolTime, func() {
		late.Store(true)
		cancel()
	})
	defer stop()
	output, err = call.Tool.Run(ctx, call.Arguments)
	if late.Load() && errors.Is(err, context.Canceled) {
		err = context.DeadlineExceeded
	}
	return output, err
}

// toolRan takes the result of a tool.
func (s *Session) toolRan(c *call, call tools.Call[Tool], output string, err error) {
	if s.call != c {
		return
	}
	switch wanted := s.tools.Ran(call); {
	case !wanted:
		s.trace("a tool's answer was dropped: its conversation is lost")
		s.dirty = true
	case err != nil:
		s.toolAnswer(call, words.CutBytes(err.Error(), s.limits.ToolBytes), true)
	case len(output) > s.limits.ToolBytes:
		s.toolAnswer(call, "the tool's answer is longer than "+strconv.Itoa(s.limits.ToolBytes)+" bytes", true)
	default:
		s.toolAnswer(call, output, false)
	}
	s.startTools()
}

// toolAnswer sends the result of a call. settle asks for the response to it.
func (s *Session) toolAnswer(call tools.Call[Tool], output string, failed bool) {
	s.dirty = true
	s.items.ShowOutput(call.ID, output, failed)
	sent := output
	if failed {
		sent = string(newJSON().Object().Key("error").Text(output).EndObject().Bytes())
	}
	s.tools.Sent(call)
	result := newJSON().Key("item").Object().Key("object").Text("realtime.item").Key("type").Text(wire.ItemFunctionCallOutput).
		Key("call_id").Text(call.ID).Key("output").Text(sent).EndObject()
	s.send("conversation.item.create", result, outgoing.Intent{Kind: outgoing.Output})
}

// askAnswer asks for a response. item is the item of the user that it answers; "" for none.
func (s *Session) askAnswer(item string) {
	seq := s.dialog.Expect(view.Ask{}, item, s.limits.AnswerStart, s.clock.Now())
	s.dirty = true
	s.send("response.create", newJSON(), outgoing.Intent{Kind: outgoing.Answer, Item: item, Seq: seq})
}

// checkTools refuses tools that the protocol cannot name.
func checkTools(tools []Tool) error {
	if len(tools) > wire.MaxTools {
		return &Error{Kind: ErrInvalid, Detail: "more than " + strconv.Itoa(wire.MaxTools) + " tools"}
	}
	names := make(map[string]bool, len(tools))
	for _, t := range tools {
		switch {
		case !toolName(t.Name):
			return &Error{Kind: ErrInvalid, Detail: "the tool name " + strconv.Quote(t.Name) + " is not 1 to 64 of a-z, A-Z, 0-9, _ and -"}
		case names[t.Name]:
			return &Error{Kind: ErrInvalid, Detail: "two tools have the name " + t.Name}
		case t.Run == nil:
			return &Error{Kind: ErrInvalid, Detail: "the tool " + t.Name + " has no Run"}
		case t.Parameters != nil && !jsonObject(t.Parameters):
			return &Error{Kind: ErrInvalid, Detail: "the parameters of the tool " + t.Name + " are no JSON object"}
		}
		names[t.Name] = true
	}
	return nil
}

// toolName reports whether s may be the name of a tool.
func toolName(s string) bool {
	for _, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
		if !letter {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 64
}
