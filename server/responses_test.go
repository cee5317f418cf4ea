package server_test

// Responses through the whole server: order of events, settings of a request, cancellation, tools.

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// tools are two functions.
const tools = `"tools":[{"type":"function","name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}},` +
	`{"type":"function","name":"get_time","parameters":{"type":"object","properties":{}}}]`

const text = `"output_modalities":["text"]`

func TestResponses(t *testing.T) {
	story(t, "the events of a text response come in the protocol's order", func(t *testing.T) {
		c := dial(t)
		c.settle(text)
		c.ask("hello")
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(c.names()).To(gomega.Equal([]string{
			"session.created", "conversation.created", "session.updated", "conversation.item.added", "conversation.item.done",
			"response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added",
			"response.output_text.delta", "response.output_text.done", "response.content_part.done",
			"response.output_item.done", "conversation.item.done", "response.done",
		}))
		c.g.Expect(done.OutputModalities).To(gomega.Equal([]string{"text"}))
		c.g.Expect(done.Output[0].Content[0]).To(gomega.Equal(wire.Content{Type: "output_text", Text: "You said: hello"}))
		c.g.Expect(*done.Usage).To(gomega.HaveField("TotalTokens", 1+3), "scripted counts words")
		c.g.Expect(done.Usage.OutputTokenDetails.AudioTokens).To(gomega.BeZero())
		c.g.Expect(done.StatusDetails).To(gomega.BeNil())
		c.g.Expect(done.Metadata).To(gomega.BeNil())
	})

	story(t, "the events of a spoken response come in the protocol's order, and its deltas add up to its text", func(t *testing.T) {
		c := dial(t)
		c.ask("say 20 words")
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(c.names()).To(gomega.Equal([]string{
			"session.created", "conversation.created", "conversation.item.added", "conversation.item.done",
			"response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added",
			"response.output_audio_transcript.delta", "response.output_audio.delta",
			"response.output_audio.done", "response.output_audio_transcript.done", "response.content_part.done",
			"response.output_item.done", "conversation.item.done", "response.done",
		}))
		var said strings.Builder
		samples := 0
		for _, e := range c.All() {
			switch e := e.(type) {
			case *wire.ResponseOutputAudioTranscriptDelta:
				said.WriteString(e.Delta)
			case *wire.ResponseOutputAudioDelta:
				samples += len(e.Delta) / 2
				c.g.Expect(e.ResponseID).To(gomega.Equal(done.ID))
				c.g.Expect(e.ItemID).To(gomega.Equal(done.Output[0].ID))
				c.g.Expect(e.OutputIndex).To(gomega.BeZero())
			}
		}
		c.g.Expect(done.Output[0].Content[0].Transcript).To(gomega.HaveValue(gomega.Equal(said.String())))
		c.g.Expect(said.String()).To(gomega.HavePrefix("One two three four, five"))
		c.g.Expect(done.Usage.OutputTokenDetails.AudioTokens).To(gomega.BeNumerically("~", samples/2400, 1))
		c.g.Expect(done.Usage.TotalTokens).To(gomega.Equal(done.Usage.InputTokens + done.Usage.OutputTokens))
	})
}

// TestRequests checks the settings of a response.create, which hold for its response alone.
func TestRequests(t *testing.T) {
	// A client cannot match its request if response.metadata is not echoed.
	story(t, "the settings of a response.create hold for its response alone", func(t *testing.T) {
		c := dial(t)
		c.write("say 9 words")
		c.sendText(`{"type":"response.create","response":{` + text + `,"metadata":{"topic":"x"},"max_output_tokens":4}}`)
		created := next[*wire.ResponseCreated](c, "response.created").Response
		done := next[*wire.ResponseDone](c, "response.done").Response
		for _, r := range []wire.Response{created, done} {
			c.g.Expect(string(r.Metadata)).To(gomega.MatchJSON(`{"topic":"x"}`))
			c.g.Expect(r.MaxOutputTokens.N).To(gomega.Equal(4))
			c.g.Expect(r.OutputModalities).To(gomega.Equal([]string{"text"}))
		}
		c.g.Expect(created.Status).To(gomega.Equal("in_progress"))
		c.g.Expect(created.Output).To(gomega.BeEmpty())
		c.g.Expect(created.Usage).To(gomega.BeNil())
		c.g.Expect(done.Status).To(gomega.Equal("incomplete"))
		c.g.Expect(*done.StatusDetails).To(gomega.Equal(wire.StatusDetails{Type: "incomplete", Reason: "max_output_tokens"}))
		c.g.Expect(done.Output[0].Status).To(gomega.Equal("incomplete"))
		c.g.Expect(done.Output[0].Content[0].Text).To(gomega.Equal("One two three four, "))
		goesOn(c)
	})

	story(t, "the model gets the input of a response.create, and the conversation stays", func(t *testing.T) {
		c := dial(t)
		c.settle(text)
		c.write("the first")
		item := next[*wire.ConversationItemAdded](c, "conversation.item.added").Item
		c.write("the second")
		c.sendText(`{"type":"response.create","response":{"input":[{"type":"item_reference","id":"` + item.ID + `"}]}}`)
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Text).To(gomega.Equal("You said: the first"))
		c.sendText(`{"type":"response.create","response":{"input":[` + hello + `],"instructions":"one two"}}`)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Output[0].Content[0].Text).To(gomega.Equal("You said: hello"))
		c.g.Expect(done.Usage.InputTokens).To(gomega.Equal(3))
		c.send(&wire.ResponseCreate{})
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Text).To(gomega.Equal("You said: the second"))
	})
}

// TestLiveResponses checks that there is one response at a time, and that a client can cancel it.
func TestLiveResponses(t *testing.T) {
	// "already has an active response", two writers: openai-agents-python#1466.
	story(t, "a second response is refused while one is active, and the first is not disturbed", func(t *testing.T) {
		c := dial(t)
		c.ask("say 30 words")
		first(c, "response.output_audio.delta")
		c.sendText(`{"type":"response.create","event_id":"second"}`)
		refused(c, "conversation_already_has_active_response", "second")
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Status).To(gomega.Equal("completed"))
		c.g.Expect(strings.Fields(*done.Output[0].Content[0].Transcript)).To(gomega.HaveLen(30))
		goesOn(c)
	})

	// Another server sends no response.done for a failed response, and no output_item.done on cancel.
	story(t, "a cancelled response closes everything that it opened", func(t *testing.T) {
		c := dial(t)
		c.ask("say 40 words")
		first(c, "response.output_audio.delta")
		c.sendText(`{"type":"response.cancel","event_id":"enough"}`)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Status).To(gomega.Equal("cancelled"))
		c.g.Expect(*done.StatusDetails).To(gomega.Equal(wire.StatusDetails{Type: "cancelled", Reason: "client_cancelled"}))
		c.g.Expect(done.Output[0].Status).To(gomega.Equal("incomplete"))
		names := c.names()
		c.g.Expect(names[len(names)-6:]).To(gomega.Equal([]string{
			"response.output_audio.done", "response.output_audio_transcript.done", "response.content_part.done",
			"response.output_item.done", "conversation.item.done", "response.done",
		}))
		c.sendText(`{"type":"response.cancel","event_id":"again"}`)
		refused(c, "response_cancel_not_active", "again")
		goesOn(c)
	})

	story(t, "a cancel names its response", func(t *testing.T) {
		c := dial(t)
		c.ask("stall")
		id := next[*wire.ResponseCreated](c, "response.created").Response.ID
		c.sendText(`{"type":"response.cancel","event_id":"other","response_id":"resp_other"}`)
		refused(c, "response_cancel_not_active", "other")
		c.sendText(`{"type":"response.cancel","response_id":"` + id + `"}`)
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.ID).To(gomega.Equal(id))
		goesOn(c)
	})
}

func TestTools(t *testing.T) {
	// The tool never runs if output_item.done is missing or not "completed".
	story(t, "a tool call goes out, and its result is answered", func(t *testing.T) {
		c := dial(t)
		c.settle(tools)
		c.ask("what does get_weather say")
		added := next[*wire.ResponseOutputItemAdded](c, "response.output_item.added").Item
		arguments := next[*wire.ResponseFunctionCallArgumentsDone](c, "response.function_call_arguments.done")
		item := next[*wire.ResponseOutputItemDone](c, "response.output_item.done").Item
		done := next[*wire.ResponseDone](c, "response.done").Response

		c.g.Expect(added).To(gomega.And(gomega.HaveField("Type", "function_call"), gomega.HaveField("Status", "in_progress"), gomega.HaveField("Arguments", "")))
		c.g.Expect(arguments).To(gomega.And(gomega.HaveField("Name", "get_weather"), gomega.HaveField("CallID", added.CallID)))
		c.g.Expect(arguments.Arguments).To(gomega.MatchJSON(`{"city":"what does get_weather say"}`))
		c.g.Expect(item).To(gomega.And(gomega.HaveField("Status", "completed"), gomega.HaveField("Arguments", arguments.Arguments)))
		c.g.Expect(done.Output).To(gomega.Equal([]wire.Item{item}))

		c.send(&wire.ConversationItemCreate{Item: wire.Item{Type: wire.ItemFunctionCallOutput, CallID: item.CallID, Output: "sunny"}})
		c.send(&wire.ResponseCreate{})
		answer := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(answer.Output[0].Content[0].Transcript).To(gomega.HaveValue(gomega.Equal("Tool said: sunny")))
	})

	// The page of another server makes N responses for N tool calls, which supersede each other.
	story(t, "two tools are called by one response and answered by one", func(t *testing.T) {
		c := dial(t)
		c.settle(tools)
		c.ask("get_time and get_weather please")
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Output).To(gomega.HaveLen(2))
		c.g.Expect([]string{done.Output[0].Name, done.Output[1].Name}).To(gomega.Equal([]string{"get_time", "get_weather"}))
		c.g.Expect(done.Output[0].CallID).NotTo(gomega.Equal(done.Output[1].CallID))
		for i, e := range doneItems(c) {
			c.g.Expect(e.OutputIndex).To(gomega.Equal(i))
		}
		for i, result := range []string{"noon", "rain"} {
			c.send(&wire.ConversationItemCreate{Item: wire.Item{Type: wire.ItemFunctionCallOutput, CallID: done.Output[i].CallID, Output: result}})
		}
		c.send(&wire.ResponseCreate{})
		answer := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(answer.Output[0].Content[0].Transcript).To(gomega.HaveValue(gomega.Equal("Tool said: noon; rain")))
	})

	for _, row := range []struct{ name, session, request, want string }{
		{"one at a time without parallel calls", `"parallel_tool_calls":false`, ``, "get_time"},
		{"none if tool_choice is none", `"tool_choice":"none"`, ``, ""},
		{"the one that tool_choice names", `"tool_choice":{"type":"function","name":"get_weather"}`, ``, "get_weather"},
		{"the request's own choice", `"tool_choice":"none"`, `"tool_choice":"auto","parallel_tool_calls":false`, "get_time"},
		{"the request's own tools", `"tool_choice":"auto"`, `"tools":[{"type":"function","name":"please","parameters":{"type":"object"}}]`, "please"},
		{"none if the request has none", `"tool_choice":"auto"`, `"tools":[]`, ""},
	} {
		story(t, "tools are called: "+row.name, func(t *testing.T) {
			c := dial(t)
			c.settle(tools + "," + row.session)
			c.write("get_time and get_weather please")
			c.sendText(`{"type":"response.create","response":{` + row.request + `}}`)
			done := next[*wire.ResponseDone](c, "response.done").Response
			c.g.Expect(done.Output).To(gomega.HaveLen(1))
			c.g.Expect(done.Output[0].Name).To(gomega.Equal(row.want))
		})
	}
}

func doneItems(c *client) []*wire.ResponseOutputItemDone {
	var out []*wire.ResponseOutputItemDone
	for _, e := range c.All() {
		if e, ok := e.(*wire.ResponseOutputItemDone); ok {
			out = append(out, e)
		}
	}
	return out
}
