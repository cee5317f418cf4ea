package sdk

// The agent's tool calls: which tools run, and what the server gets of their results.

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/wire"
)

// toolbox runs each tool call once. The results of calls that run together get one answer.
type toolbox struct {
	byName map[string]Tool
	known  map[string]bool  // the call ids of all calls so far
	order  []string         // the ids in known, oldest first. Invariant: len <= maxCalls.
	queue  []queuedToolCall // calls that wait until fewer tools run. Invariant: len <= maxCalls.
	active int              // how many tools run now
	// epoch counts interruptions: the results of calls of an earlier epoch get no answer of their own.
	epoch int
	// oldest is the first epoch whose results the server can take: earlier calls belong to a lost conversation.
	oldest int
	// wants: the session asks for a response as soon as nobody speaks. tries counts how often it did so in a row.
	wants bool
	tries int
	// untaken counts the results that the server has not taken into the conversation yet. A response that begins before does not
	// know them.
	untaken int
}

type queuedToolCall struct {
	id, arguments string
	tool          Tool
	epoch         int
}

const (
	// maxCalls bounds how many call ids are remembered so that none runs twice, and how many calls wait.
	maxCalls = 4096
	// maxTries bounds how often the session asks again when the server refuses because another response is going on.
	maxTries = 3
)

func newToolbox(tools []Tool) toolbox {
	t := toolbox{known: map[string]bool{}}
	t.use(tools)
	return t
}

func (t *toolbox) use(tools []Tool) {
	t.byName = make(map[string]Tool, len(tools))
	for _, tool := range tools {
		t.byName[tool.Name] = tool
	}
}

// first reports whether the call is new, and remembers it.
func (t *toolbox) first(callID string) bool {
	if t.known[callID] {
		return false
	}
	t.known[callID] = true
	t.order = append(t.order, callID)
	if len(t.order) > maxCalls {
		delete(t.known, t.order[0])
		t.order = t.order[1:]
	}
	return true
}

// busy reports whether the agent waits for results.
func (t *toolbox) busy() bool { return t.active > 0 || len(t.queue) > 0 || t.wants }

// taken notes that the server has the result of this call.
func (t *toolbox) taken(callID string) {
	if t.known[callID] && t.untaken > 0 {
		t.untaken--
	}
}

// answered notes that a response begins. It answers the results that the server had by then.
func (t *toolbox) answered() {
	if t.untaken == 0 {
		t.wants = false
	}
	t.tries = 0
}

// discardResults notes that the user does not want an answer to the present calls any more.
func (t *toolbox) discardResults() {
	t.epoch++
	t.wants = false
}

// runTool handles a tool call that the agent has finished making.
func (s *Session) runTool(told *wire.Item) {
	t := &s.tools
	switch {
	case told.CallID == "":
		s.trace("a function call without a call_id was left out")
		return
	case len(t.byName) == 0:
		return // another client of the call has the tools
	case !t.first(told.CallID):
		s.trace("a function call came twice: it was run once")
		return
	}
	call := queuedToolCall{id: told.CallID, arguments: told.Arguments, epoch: t.epoch}
	tool, ok := t.byName[told.Name]
	switch {
	case !ok:
		s.toolAnswer(call, "there is no tool with the name "+told.Name, true)
	case len(t.queue) >= maxCalls:
		s.toolAnswer(call, "too many tools are waiting to run", true)
	default:
		call.tool = tool
		t.queue = append(t.queue, call)
		s.startTools()
	}
}

// startTools runs as many of the waiting calls as may run at once.
func (s *Session) startTools() {
	t, c := &s.tools, s.call
	for t.active < s.limits.ToolsAtOnce && len(t.queue) > 0 {
		call := t.queue[0]
		t.queue = t.queue[1:]
		t.active++
		s.background(c, func() {
			output, err := s.callTool(c.ctx, call)
			s.queue.must(s.job(func() { s.toolRan(c, call, output, err) }))
		})
	}
}

// callTool runs a tool for at most Limits.ToolTime, measured by the session's Clock. A tool that ends because its time is over
// fails with context.DeadlineExceeded.
func (s *Session) callTool(ctx context.Context, call queuedToolCall) (output string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var late atomic.Bool
	stop := s.clock.AfterFunc(s.limits.ToolTime, func() {
		late.Store(true)
		cancel()
	})
	defer stop()
	output, err = call.tool.Run(ctx, call.arguments)
	if late.Load() && errors.Is(err, context.Canceled) {
		err = context.DeadlineExceeded
	}
	return output, err
}

// toolRan takes the result of a tool.
func (s *Session) toolRan(c *call, call queuedToolCall, output string, err error) {
	if s.call != c {
		return
	}
	s.tools.active--
	switch {
	case call.epoch < s.tools.oldest:
		s.trace("a tool's answer was dropped: its conversation is lost")
		s.dirty = true
	case err != nil:
		s.toolAnswer(call, cutBytes(err.Error(), s.limits.ToolBytes), true)
	case len(output) > s.limits.ToolBytes:
		s.toolAnswer(call, "the tool's answer is longer than "+strconv.Itoa(s.limits.ToolBytes)+" bytes", true)
	default:
		s.toolAnswer(call, output, false)
	}
	s.startTools()
}

// toolAnswer sends the result of a call. owedAnswer asks for the response to it.
func (s *Session) toolAnswer(call queuedToolCall, output string, failed bool) {
	s.dirty = true
	s.showOutput(call.id, output, failed)
	sent := output
	if failed {
		sent = string(newJSON().Object().Key("error").Text(output).EndObject().Bytes())
	}
	s.tools.untaken++
	if call.epoch == s.tools.epoch {
		s.tools.wants = true
	}
	result := newJSON().Key("item").Object().Key("object").Text("realtime.item").Key("type").Text(wire.ItemFunctionCallOutput).
		Key("call_id").Text(call.id).Key("output").Text(sent).EndObject()
	s.send("conversation.item.create", result, intent{kind: intentOutput})
}

// owedAnswer asks for one response to all results, as soon as nobody speaks.
func (s *Session) owedAnswer() {
	t := &s.tools
	if !t.wants || t.active > 0 || len(t.queue) > 0 || s.phase != phaseLive || !s.dialog.idle() {
		return
	}
	t.wants = false
	s.askAnswer("")
}

// askAnswer asks for a response. item is the item of the user that it answers; "" for none.
func (s *Session) askAnswer(item string) {
	seq := s.dialog.expect(view.Ask{}, item, s.limits.AnswerStart, s.clock.Now())
	s.dirty = true
	s.send("response.create", newJSON(), intent{kind: intentAnswer, item: item, seq: seq})
}

// showCall shows a tool call of the agent in the transcript.
func (s *Session) showCall(it *item, told *wire.Item) {
	shown := ToolCall{ID: told.CallID, Name: told.Name, Arguments: cutBytes(told.Arguments, s.limits.EntryBytes)}
	if old := it.entry.ToolCall; old != nil && old.ID == told.CallID {
		shown.Output, shown.Done, shown.Failed = old.Output, old.Done, old.Failed
	}
	it.entry.Role, it.entry.ToolCall = ToolUse, &shown
	s.items.changed()
}

// showServerCall shows a call of a tool that the server runs. done says that the tool has ended. The call has the id of its item.
func (s *Session) showServerCall(it *item, told *wire.Item, done bool) {
	output, failed := told.Output, len(told.Error) > 0
	if failed {
		output = string(told.Error)
	}
	it.entry.Role, it.entry.ToolCall = ToolUse, &ToolCall{
		ID: told.ID, Name: told.Name, Arguments: cutBytes(told.Arguments, s.limits.EntryBytes),
		Output: cutBytes(output, s.limits.EntryBytes), Done: done, Failed: failed,
	}
	s.items.changed()
}

// showOutput shows the first known result of a call.
func (s *Session) showOutput(callID, output string, failed bool) {
	for i := len(s.items.items) - 1; i >= 0; i-- {
		it := s.items.items[i]
		if it.entry.ToolCall == nil || it.entry.ToolCall.ID != callID {
			continue
		}
		if !it.entry.ToolCall.Done {
			shown := *it.entry.ToolCall
			shown.Output, shown.Done, shown.Failed = cutBytes(output, s.limits.EntryBytes), true, failed
			it.entry.ToolCall = &shown
			s.items.changed()
		}
		return
	}
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
