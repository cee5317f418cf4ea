package scripted

// This file has the model of the scripted pipeline.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/fit"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// ErrScripted is wrapped by every failure that a script asks for.
var ErrScripted = errors.New("scripted failure")

// model answers as the script says, and otherwise with the default behaviour. It has no state.
type model struct{ rules *ModelRules }

// CountTokens implements pipeline.TokenCounter.
func (m *model) CountTokens(text string) int { return len(strings.Fields(text)) }

// ContextWindow implements pipeline.TokenCounter.
func (m *model) ContextWindow() int {
	if m.rules.Window > 0 {
		return m.rules.Window
	}
	return pipeline.DefaultContextWindow
}

// answer is all that the model returns for one request.
type answer struct {
	say        string
	calls      []pipeline.ToolCall
	firstToken time.Duration
	token      time.Duration
	fail       string
	stall      bool
	cut        bool
}

// Generate implements pipeline.Model. A token is a word.
func (m *model) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	g := generation{ctx: ctx, emit: emit, limit: r.MaxOutputTokens, usage: pipeline.Usage{InputTokens: countInput(r)}}
	a := m.answer(r)
	err := g.run(a)
	return g.usage, err
}

func (m *model) answer(r pipeline.Request) answer {
	in, said := look(r.Messages)
	for i := range m.rules.Replies {
		reply := &m.rules.Replies[i]
		if groups, ok := reply.When.match(in); ok {
			return m.scripted(reply, r, expand(reply.Say, in, said, groups), said)
		}
	}
	a := byDefault(r, in, said)
	if n := len(r.Messages); n > 0 && len(r.Messages[n-1].Images) > 0 {
		a = answer{say: pipeline.NoVisionReply}
	}
	a.firstToken, a.token = m.rules.FirstToken, m.rules.Token
	return a
}

// scripted turns a reply of the script into an answer.
func (m *model) scripted(reply *Reply, r pipeline.Request, say, said string) answer {
	a := answer{say: say, firstToken: m.rules.FirstToken, token: m.rules.Token, fail: reply.Fail, stall: reply.Stall, cut: reply.Cut}
	if reply.FirstToken != nil {
		a.firstToken = *reply.FirstToken
	}
	if reply.Token != nil {
		a.token = *reply.Token
	}
	for _, c := range reply.Calls {
		call := pipeline.ToolCall{Name: c.Name, Arguments: "{}"}
		if c.Arguments != nil {
			if b, err := json.Marshal(c.Arguments); err == nil {
				call.Arguments = string(b)
			}
		} else {
			for _, t := range r.Tools {
				if t.Name == c.Name {
					call.Arguments = fit.Arguments(t.Parameters, fit.Source{Text: said})
				}
			}
		}
		a.calls = append(a.calls, call)
	}
	return a
}

// look returns the end of a conversation: the last text of the user, or the result of a tool.
func look(messages []pipeline.Message) (in input, said string) {
	names := map[string]string{}
	for _, m := range messages {
		switch {
		case m.Call != nil:
			names[m.Call.ID] = m.Call.Name
		case m.Result != nil:
			in.text, in.tool = m.Result.Output, names[m.Result.CallID]
			if in.tool == "" {
				in.tool = "?" // a result whose tool call is missing
			}
		case m.Role == pipeline.RoleUser:
			in.text, in.tool = m.Text, ""
			in.turn++
			said = m.Text
		}
	}
	return in, said
}

// results returns the outputs of tools at the end of the conversation.
func results(messages []pipeline.Message) []string {
	var out []string
	for i := len(messages) - 1; i >= 0 && (messages[i].Result != nil || messages[i].Call != nil); i-- {
		if messages[i].Result != nil {
			out = append([]string{messages[i].Result.Output}, out...)
		}
	}
	return out
}

// generation is one answer that is being emitted.
type generation struct {
	ctx   context.Context
	emit  func(pipeline.ModelEvent) error
	limit int
	usage pipeline.Usage
}

func (g *generation) run(a answer) error {
	if err := pause(g.ctx, a.firstToken); err != nil {
		return err
	}
	for i, word := range words(a.say) {
		if i > 0 {
			if err := pause(g.ctx, a.token); err != nil {
				return err
			}
		}
		if err := g.token(pipeline.TextDelta{Text: word}); err != nil {
			return err
		}
	}
	for i, c := range a.calls {
		if err := g.call(i, c, a.token); err != nil {
			return err
		}
	}
	switch {
	case a.stall:
		return stall(g.ctx)
	case a.fail != "":
		return &pipeline.StageError{Stage: pipeline.StageModel, Err: fmt.Errorf("%w: %s", ErrScripted, a.fail)}
	case a.cut:
		return pipeline.ErrMaxTokens
	}
	return g.ctx.Err()
}

// token emits an event that counts as one output token.
func (g *generation) token(e pipeline.ModelEvent) error {
	if err := g.ctx.Err(); err != nil {
		return err
	}
	if g.limit > 0 && g.usage.OutputTokens >= g.limit {
		return pipeline.ErrMaxTokens
	}
	g.usage.OutputTokens++
	return g.emit(e)
}

// call emits a tool call in a few deltas.
func (g *generation) call(i int, c pipeline.ToolCall, delay time.Duration) error {
	for rest := c.Arguments; rest != ""; {
		n := min(len(rest), 16)
		for n < len(rest) && rest[n]&0xc0 == 0x80 {
			n++ // a delta does not end inside a rune
		}
		if err := pause(g.ctx, delay); err != nil {
			return err
		}
		if err := g.token(pipeline.ToolCallDelta{Index: i, Name: c.Name, Arguments: rest[:n]}); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return g.emit(pipeline.ToolCallDone{Index: i, Name: c.Name, Arguments: c.Arguments})
}

// words splits a text after each run of spaces. The parts together are the text.
func words(s string) []string {
	var out []string
	for s != "" {
		n := strings.IndexAny(s, " \n")
		if n < 0 {
			return append(out, s)
		}
		for n < len(s) && (s[n] == ' ' || s[n] == '\n') {
			n++
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

func countInput(r pipeline.Request) int {
	n := len(strings.Fields(r.Instructions))
	for _, m := range r.Messages {
		n += len(strings.Fields(m.Text))
		if m.Call != nil {
			n += len(strings.Fields(m.Call.Arguments)) + 1
		}
		if m.Result != nil {
			n += len(strings.Fields(m.Result.Output))
		}
	}
	return n
}
