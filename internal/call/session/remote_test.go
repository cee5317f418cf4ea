package session

// Remote tools by MCP: the order of the events, approvals, and what becomes of a call.

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// desk is an MCP server in this program. Its tool pay notes its calls.
type desk struct {
	server *sdk.Server
	paid   chan string
	goes   chan struct{} // wait returns when it is closed
}

func newDesk() *desk {
	d := &desk{server: sdk.NewServer(&sdk.Implementation{Name: "desk", Version: "1"}, nil), paid: make(chan string, 8), goes: make(chan struct{})}
	say := func(text string, failed bool) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: failed}, nil
	}
	tool := func(name string, readOnly bool, run func(ctx context.Context, arguments string) (*sdk.CallToolResult, error)) {
		d.server.AddTool(&sdk.Tool{Name: name, Description: "does " + name, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &sdk.ToolAnnotations{ReadOnlyHint: readOnly}},
			func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return run(ctx, string(r.Params.Arguments))
			})
	}
	tool("look", true, func(_ context.Context, arguments string) (*sdk.CallToolResult, error) {
		return say("seen "+arguments, false)
	})
	tool("pay", false, func(_ context.Context, arguments string) (*sdk.CallToolResult, error) {
		d.paid <- arguments
		return say("paid", false)
	})
	tool("break", false, func(context.Context, string) (*sdk.CallToolResult, error) { return say("it is broken", true) })
	tool("wait", false, func(ctx context.Context, _ string) (*sdk.CallToolResult, error) {
		select {
		case <-d.goes:
		case <-ctx.Done():
		}
		return say("waited", false)
	})
	return d
}

// directory has the desk as a server of the operator.
func (d *desk) directory(t *testing.T) *mcp.Directory {
	return mcp.New(mcp.Config{Servers: []mcp.Named{{Name: "desk", Timeout: 5 * time.Second, Transport: func() sdk.Transport {
		server, client := sdk.NewInMemoryTransports()
		_, err := d.server.Connect(context.Background(), server, nil)
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
		return client
	}}}})
}

// tools is the setting with the desk.
func deskTools(more string) string {
	return `"tools":[{"type":"mcp","server_label":"desk"` + more + `}]`
}

// callsRemote is a call of a remote tool as a model emits it.
func callsRemote(name string) pipeline.ModelEvent {
	return pipeline.ToolCallDone{Name: name, Arguments: `{"n":1}`}
}

// atDesk places a call of a session with the desk, and waits for the list of its tools.
func atDesk(t *testing.T, more string, step func(n int) []pipeline.ModelEvent) (*caller, *stepping, *desk) {
	t.Helper()
	p, d := plain(), newDesk()
	m := &stepping{Model: p.Model, step: step}
	p.Model = m
	c := newCallerWith(t, Config{Pipeline: p, Settings: wire.DefaultSession(), Options: Options{MCP: d.directory(t)}}).start()
	c.send(change(`"output_modalities":["text"],` + deskTools(more)))
	first(c, "session.updated")
	first(c, "mcp_list_tools.completed")
	return c, m, d
}

// order returns the types of the events from the first of that type on, without deltas.
func (c *caller) order(from string) []string {
	var all []string
	for _, name := range c.Names() {
		if (len(all) > 0 || name == from) && !strings.HasSuffix(name, ".delta") && name != "rate_limits.updated" {
			all = append(all, name)
		}
	}
	return all
}

// doneItem returns the newest item that is done.
func (c *caller) doneItem() (it wire.Item) {
	for _, e := range c.All() {
		if done, is := e.(*wire.ConversationItemDone); is {
			it = done.Item
		}
	}
	return it
}

func calling(name string) func(n int) []pipeline.ModelEvent {
	return func(n int) []pipeline.ModelEvent {
		if n == 1 {
			return []pipeline.ModelEvent{callsRemote(name)}
		}
		return []pipeline.ModelEvent{say("I have done it.")}
	}
}

func TestRemoteToolsAreListed(t *testing.T) {
	story(t, "the list is an item, and can be retrieved while it is made", func(t *testing.T) {
		c, _, _ := atDesk(t, `,"allowed_tools":{"read_only":true}`, calling("look"))
		c.g.Expect(c.order("session.updated")).To(gomega.Equal([]string{
			"session.updated", "mcp_list_tools.in_progress", "conversation.item.added", "conversation.item.done", "mcp_list_tools.completed",
		}))
		done := c.doneItem()
		c.g.Expect(done.ServerLabel).To(gomega.Equal("desk"))
		c.g.Expect(string(done.Tools)).To(gomega.MatchJSON(`[{"name":"look","description":"does look","input_schema":{"type":"object"},"annotations":{"readOnlyHint":true,"idempotentHint":false}}]`))
		c.send(change(`"instructions":"Be brief.",` + deskTools("")))
		first(c, "session.updated")
		c.g.Expect(c.count("mcp_list_tools.in_progress")).To(gomega.Equal(1), "the connection is the same")
		c.send(change(`"tools":[]`))
		first(c, "session.updated")
		c.g.Expect(c.count("error")).To(gomega.BeZero())
	})
}

func TestRemoteCalls(t *testing.T) {
	story(t, "a call is made, and the client asks for the answer", func(t *testing.T) {
		c, m, _ := atDesk(t, `,"require_approval":"never"`, calling("look"))
		c.send(request(""))
		r := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(outline(r)).To(gomega.Equal(`completed: look=seen {"n":1}`))
		c.g.Expect(c.order("response.created")).To(gomega.Equal([]string{
			"response.created", "response.output_item.added", "conversation.item.added", "response.mcp_call_arguments.done", "response.mcp_call.in_progress",
			"response.mcp_call.completed", "response.output_item.done", "conversation.item.done", "response.done",
		}))
		c.g.Expect(m.calls()).To(gomega.Equal(1), "the server does not answer by itself")
		c.send(request(""))
		c.g.Expect(outline(next[*wire.ResponseDone](c, "response.done").Response)).To(gomega.Equal("completed: I have done it."))
		c.g.Expect(m.read(2)).To(gomega.Equal(`call look{"n":1} | result seen {"n":1}`))
	})
	story(t, "a tool fails", func(t *testing.T) {
		c, _, _ := atDesk(t, `,"require_approval":"never"`, calling("break"))
		c.send(request(""))
		first(c, "response.mcp_call.failed")
		r := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(string(r.Output[0].Error)).To(gomega.MatchJSON(`{"type":"tool_execution_error","message":"it is broken"}`))
	})
	story(t, "a tool takes too long", func(t *testing.T) {
		c, _, _ := atDesk(t, `,"require_approval":"never"`, calling("wait"))
		c.send(request(""))
		r := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(string(r.Output[0].Error)).To(gomega.ContainSubstring("took too long"))
	})
	story(t, "the settings do not name the server any more", func(t *testing.T) {
		c, m, _ := atDesk(t, `,"require_approval":"never"`, calling("look"))
		c.send(request(`"tools":[]`))
		first(c, "response.done")
		c.g.Expect(m.asked[0].Tools).To(gomega.BeEmpty())
		c.send(request(`"tools":[{"type":"mcp","server_label":"desk","allowed_tools":["pay"]}],"tool_choice":{"type":"mcp","server_label":"desk"}`))
		first(c, "response.done")
		c.g.Expect(m.asked[1].Tools).To(gomega.HaveExactElements(gomega.HaveField("Name", "pay")))
		c.g.Expect(m.asked[1].ToolChoice).To(gomega.Equal("required"))
	})
}

func TestApprovals(t *testing.T) {
	asks := func(t *testing.T) (*caller, *desk, string) {
		c, _, d := atDesk(t, `,"require_approval":{"never":{"read_only":true}}`, calling("pay"))
		c.send(request(""))
		r := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(r.Output).To(gomega.HaveLen(2))
		c.g.Expect(r.Output[0].Status).To(gomega.Equal("in_progress"))
		c.g.Expect(r.Output[1]).To(gomega.And(gomega.HaveField("Type", wire.ItemMCPApprovalRequest), gomega.HaveField("Name", "pay"), gomega.HaveField("Arguments", `{"n":1}`)))
		c.g.Expect(r.Output[0].ApprovalRequestID).To(gomega.Equal(r.Output[1].ID))
		c.g.Expect(d.paid).To(gomega.BeEmpty())
		return c, d, r.Output[1].ID
	}
	answer := func(id, approve string) string {
		return `{"type":"conversation.item.create","event_id":"e","item":{"type":"mcp_approval_response","approval_request_id":"` + id + `","approve":` + approve + `,"reason":"too dear"}}`
	}
	story(t, "approved: the tool is called once", func(t *testing.T) {
		c, d, id := asks(t)
		c.send(answer(id, "true"))
		first(c, "response.mcp_call.completed")
		c.refuses(answer(id, "true"), "invalid_value", "item.approval_request_id")
		c.g.Expect(d.paid).To(gomega.HaveLen(1))
		c.g.Expect(c.order("response.done")).To(gomega.Equal([]string{
			"response.done", "conversation.item.added", "conversation.item.done", "response.mcp_call.in_progress", "response.mcp_call.completed", "conversation.item.done", "error",
		}))
		c.g.Expect(c.doneItem().Output).To(gomega.Equal("paid"))
	})
	story(t, "refused: the tool is not called", func(t *testing.T) {
		c, d, id := asks(t)
		c.send(answer(id, "false"))
		first(c, "response.mcp_call.failed")
		first(c, "conversation.item.done")
		c.g.Expect(string(c.doneItem().Error)).To(gomega.ContainSubstring("not approved the call: too dear"))
		c.g.Expect(d.paid).To(gomega.BeEmpty())
	})
}

// TestSpokenApprovals: the server asks the user by speech, and the user's next turn answers.
func TestSpokenApprovals(t *testing.T) {
	const question = "completed: I need your approval for pay, with n: 1. Shall I do that?"
	asked := func(t *testing.T, access runs.Access, language string) (*asking, *desk) {
		p, d := plain(), newDesk()
		a := &asking{model: &stepping{Model: p.Model, step: func(n int) []pipeline.ModelEvent {
			if n == 1 {
				return []pipeline.ModelEvent{callsRemote("pay")}
			}
			return []pipeline.ModelEvent{say("Well.")}
		}}}
		p.Model = a.model
		set := wire.DefaultSession()
		set.Audio.Input.Transcription = &wire.Transcription{Language: language}
		servers := d.directory(t)
		servers.Answer, servers.SpokenApproval = true, true
		a.caller = newCallerWith(t, Config{Pipeline: p, Settings: set, Options: Options{MCP: servers, Runs: access}})
		a.start()
		a.send(change(deskTools("")))
		first(a.caller, "mcp_list_tools.completed")
		a.ask("pay it")
		next[*wire.ResponseDone](a.caller, "response.done")
		return a, d
	}
	asksUser := func(a *asking) {
		a.g.Expect(outline(next[*wire.ResponseDone](a.caller, "response.done").Response)).To(gomega.Equal(question))
		a.idle()
	}
	story(t, "yes: the tool is called once, and the agent tells the result", func(t *testing.T) {
		a, d := asked(t, runs.Access{Keyed: true}, "en")
		asksUser(a)
		a.g.Expect(d.paid).To(gomega.BeEmpty())
		a.says("yes")
		first(a.caller, "response.mcp_call.completed")
		a.idle()
		a.g.Expect(d.paid).To(gomega.HaveLen(1))
		a.g.Expect(a.model.calls()).To(gomega.Equal(3), "one answer to the user's yes, and one to the result")
		a.g.Expect(a.model.read(2)).To(gomega.ContainSubstring("user has approved the call of pay"))
		a.g.Expect(a.model.read(3)).To(gomega.ContainSubstring("result paid"))
		a.g.Expect(a.count("error")).To(gomega.BeZero())
	})
	story(t, "no: the tool is not called", func(t *testing.T) {
		a, d := asked(t, runs.Access{Keyed: true}, "en")
		asksUser(a)
		a.says("no")
		first(a.caller, "response.mcp_call.failed")
		a.idle()
		a.g.Expect(d.paid).To(gomega.BeEmpty())
		a.g.Expect(a.model.calls()).To(gomega.Equal(2))
	})
	story(t, "the client answers first: the user's word does not count", func(t *testing.T) {
		a, d := asked(t, runs.Access{Keyed: true}, "en")
		asksUser(a)
		id := ""
		for _, e := range a.All() {
			if done, is := e.(*wire.ConversationItemDone); is && done.Item.Type == wire.ItemMCPApprovalRequest {
				id = done.Item.ID
			}
		}
		a.send(`{"type":"conversation.item.create","item":{"type":"mcp_approval_response","approval_request_id":"` + id + `","approve":false}}`)
		first(a.caller, "response.mcp_call.failed")
		a.says("yes")
		a.idle()
		a.g.Expect(d.paid).To(gomega.BeEmpty())
	})
	for name, w := range map[string]struct {
		access   runs.Access
		language string
	}{
		"a call of a client secret approves nothing by speech": {runs.Access{}, "en"},
		"without a language the server does not ask":           {runs.Access{Keyed: true}, ""},
	} {
		story(t, name, func(t *testing.T) {
			a, d := asked(t, w.access, w.language)
			a.idle()
			a.says("yes")
			a.idle()
			a.g.Expect(a.count("response.mcp_call.completed")).To(gomega.BeZero())
			a.g.Expect(d.paid).To(gomega.BeEmpty())
		})
	}
}
