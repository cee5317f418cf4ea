package session

// Settings: tools, prompts, tracing, refused fields and locks.

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/wire"
)

const twoTools = `"tools":[{"type":"function","name":"clock","parameters":{"type":"object"}},{"type":"function","name":"tide","parameters":{"type":"object"}}]`

// refuses sends an event whose event_id is "e", and expects an error with this code and param.
func (c *caller) refuses(text, code, param string) wire.Error {
	c.t.Helper()
	c.send(text)
	e := next[*wire.ErrorEvent](c, "error").Error
	c.g.Expect([]string{e.Code, deref(e.Param), deref(e.EventID), e.Type}).To(gomega.Equal([]string{code, param, "e", "invalid_request_error"}), text)
	return e
}

func change(session string) string {
	return `{"type":"session.update","event_id":"e","session":{"type":"realtime",` + session + `}}`
}

func request(response string) string {
	return `{"type":"response.create","event_id":"e","response":{` + response + `}}`
}

func TestToolChoice(t *testing.T) {
	story(t, "a bad choice is an error, and the model gets a good one", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.refuses(change(`"tool_choice":{"type":"function","name":"tide"}`), "invalid_value", "session.tool_choice")
		c.settle(twoTools + `,"tool_choice":{"type":"function","name":"tide"}`)
		c.refuses(request(`"tools":[]`), "invalid_value", "response.tool_choice")
		c.ask("anything")
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Name).To(gomega.Equal("tide"))
	})

	// The model calls two tools. Without parallel_tool_calls the client gets one call.
	for parallel, calls := range map[string]int{"true": 2, "false": 1} {
		story(t, "parallel_tool_calls "+parallel, func(t *testing.T) {
			c := byWebSocket(t, byScript(t, `model: {replies: [{calls: [{name: clock}, {name: tide}]}]}`))
			c.settle(twoTools + `,"parallel_tool_calls":` + parallel)
			c.ask("both")
			done := next[*wire.ResponseDone](c, "response.done").Response
			c.g.Expect(done.Status).To(gomega.Equal("completed"))
			c.g.Expect(done.Output).To(gomega.HaveLen(calls))
			c.g.Expect(c.count("response.function_call_arguments.done")).To(gomega.Equal(calls))
		})
	}
}

func TestPrompts(t *testing.T) {
	const keeper = `
prompts:
  - {id: pmpt_1, version: "2", text: "You are {{name}} of {{place}}."}
`
	story(t, "the text of a prompt takes the place of the instructions", func(t *testing.T) {
		p, l := remembered(byScript(t, keeper))
		c := byWebSocket(t, p)
		c.settle(`"prompt":{"id":"pmpt_1","version":"2","variables":{"name":"Ann","place":{"type":"input_text","text":"Bree"}}}`)
		c.answer()
		c.g.Expect(l.request().Instructions).To(gomega.Equal("You are Ann of Bree."))
		c.settle(`"instructions":"Be brief."`)
		c.answer()
		c.g.Expect(l.request().Instructions).To(gomega.Equal("Be brief."))
		c.send(request(`"prompt":{"id":"pmpt_1","variables":{"name":"Bob"}}`))
		first(c, "response.done")
		c.g.Expect(l.request().Instructions).To(gomega.Equal("You are Bob of {{place}}."))
		c.send(request(`"prompt":{"id":"pmpt_1"},"instructions":"Mine."`))
		first(c, "response.done")
		c.g.Expect(l.request().Instructions).To(gomega.Equal("Mine."))
	})
}

func TestTracing(t *testing.T) {
	story(t, "it is taken and recorded, and cannot be changed", func(t *testing.T) {
		var log bytes.Buffer
		c := newCaller(t, plain())
		c.s.log = slog.New(slog.NewTextHandler(&log, nil))
		c.start()
		c.settle(`"tracing":"auto"`) // the agents SDK gives the names afterwards
		c.send(change(`"tracing":{"workflow_name":"support","group_id":"g7","metadata":{"user":"u"}}`))
		updated := next[*wire.SessionUpdated](c, "session.updated").Session
		c.g.Expect(string(updated.Tracing)).To(gomega.MatchJSON(`{"workflow_name":"support","group_id":"g7","metadata":{"user":"u"}}`))
		c.refuses(change(`"tracing":"auto"`), "invalid_value", "session.tracing")
		c.settle(`"tracing":{"workflow_name":"support","group_id":"g7","metadata":{"user":"u"}}`)
		c.settle(`"tracing":null`)
		c.g.Expect(log.String()).To(gomega.ContainSubstring("msg=tracing workflow=support group=g7"))
		c.g.Expect(bytes.Count(log.Bytes(), []byte("msg=tracing"))).To(gomega.Equal(2))
	})
}

func TestOwnInput(t *testing.T) {
	story(t, "an error for a bad input names the place in it", func(t *testing.T) {
		c := byWebSocket(t, plain())
		const message = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`
		c.refuses(request(`"input":[`+message+`,{"type":"item_reference","id":"x"}]`), "item_not_found", "response.input[1].id")
		c.refuses(request(`"input":[`+message+`,{"type":"message","role":"user","content":[]}]`), "invalid_value", "response.input[1].content")
		c.refuses(request(`"input":[{"type":"mcp_approval_response","approval_request_id":"x","approve":true}]`), "invalid_value", "response.input[0].type")
		c.refuses(request(`"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hm"},{"type":"input_audio","audio":"AAAA"}]}]`),
			"invalid_value", "response.input[0].content[1].transcript")
		c.refuses(request(`"metadata":{"a":7}`), "invalid_value", "response.metadata")
		expectSessionWorks(c)
	})
}

func TestBetaNames(t *testing.T) {
	story(t, "a field of the beta is refused, and the session goes on", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.refuses(change(`"voice":"slt"`), "unknown_parameter", "session.voice")
		e := c.refuses(request(`"modalities":["text"]`), "unknown_parameter", "response.modalities")
		c.g.Expect(e.Message).To(gomega.ContainSubstring("response.output_modalities"))
		c.send(request(`"temperature":null,"metadata":{"voice":"x"}`))
		next[*wire.ResponseCreated](c, "response.created")
	})
}

func TestLocks(t *testing.T) {
	story(t, "a locked field, item and response; a side-band controller that may change them", func(t *testing.T) {
		c := newCallerWith(t, Config{Pipeline: plain(), Settings: wire.DefaultSession(), Locks: conversation.Locks{"instructions"}}).start()
		c.refuses(change(`"instructions":"obey me"`), conversation.CodeLocked, "session.instructions")
		c.sideband(true).send(change(`"instructions":"be kind"`))
		first(c, "session.updated")
		c.refuses(request(`"instructions":"obey me"`), conversation.CodeLocked, "response.instructions")
		c.sideband(true).send(request(`"instructions":"be kind"`))
		first(c, "response.done")
		c.send(request(`"max_output_tokens":100`))
		first(c, "response.done")

		const create = `{"type":"conversation.item.create","event_id":"e","item":`
		c.refuses(create+itemOf("system")+"}", conversation.CodeLocked, "item.role")
		c.sideband(false).refused(create+itemOf("system")+"}", conversation.CodeLocked)
		c.sideband(true).send(create + itemOf("system") + "}")
		c.g.Expect(next[*wire.ConversationItemAdded](c, "conversation.item.added").Item.Role).To(gomega.Equal("system"))
		c.send(create + itemOf("user") + "}")
		c.g.Expect(next[*wire.ConversationItemAdded](c, "conversation.item.added").Item.Role).To(gomega.Equal("user"))
	})
}

// itemOf returns the JSON of a message of this role.
func itemOf(role string) string {
	return `{"type":"message","role":"` + role + `","content":[{"type":"input_text","text":"obey me"}]}`
}
