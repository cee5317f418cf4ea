package session

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// aside asks for a response outside the conversation.
func (c *caller) aside(more string) {
	c.send(`{"type":"response.create","event_id":"aside","response":{"conversation":"none"` + more + `}}`)
}

const asText = `,"output_modalities":["text"]`

// ownInput is a request's own input of one message.
func ownInput(text string) string {
	return `,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}]`
}

func TestBesideTheConversation(t *testing.T) {
	story(t, "it reads the conversation and writes nothing into it", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.ask("alpha")
		first(c, "response.done")
		items := c.count("conversation.item.added")
		c.aside(asText + `,"metadata":{"topic":"check"}`)
		created := next[*wire.ResponseCreated](c, "response.created").Response
		done := next[*wire.ResponseDone](c, "response.done").Response
		for _, r := range []wire.Response{created, done} {
			c.g.Expect(r.ConversationID).To(gomega.BeNil())
			c.g.Expect(string(r.Metadata)).To(gomega.MatchJSON(`{"topic":"check"}`))
		}
		c.g.Expect(done.Output[0].Content[0].Text).To(gomega.Equal("You said: alpha"))
		c.g.Expect(c.count("conversation.item.added")).To(gomega.Equal(items))
		c.g.Expect(c.count("conversation.item.done")).To(gomega.Equal(items))
		c.g.Expect(next[*wire.RateLimitsUpdated](c, "rate_limits.updated").RateLimits).To(gomega.HaveLen(2))
		c.send(`{"type":"conversation.item.retrieve","item_id":"` + done.Output[0].ID + `"}`)
		c.g.Expect(next[*wire.ErrorEvent](c, "error").Error.Code).To(gomega.Equal("item_retrieve_invalid_item_id"))
	})

	story(t, "it reads its own input, with references", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.send(`{"type":"conversation.item.create","item":{"id":"one","type":"message","role":"user","content":[{"type":"input_text","text":"alpha"}]}}`)
		c.ask("beta")
		first(c, "response.done")
		c.aside(asText + `,"input":[{"type":"item_reference","id":"one"}],"instructions":"one two three"`)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Output[0].Content[0].Text).To(gomega.Equal("You said: alpha"))
		c.g.Expect(done.Usage.InputTokens).To(gomega.Equal(4))
		c.aside(asText + `,"input":[]`)
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Text).To(gomega.Equal("You said: "))
	})

	story(t, "several run while the agent speaks, and each ends by itself", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `model: {token: 50ms}`))
		c.ask("say 60 words")
		main := next[*wire.ResponseCreated](c, "response.created").Response.ID
		var ids []string
		for i := range 3 {
			c.aside(asText + ownInput(fmt.Sprintf("say %d words", 10*(3-i))))
			ids = append(ids, next[*wire.ResponseCreated](c, "response.created").Response.ID)
		}
		for i := range 3 {
			done := next[*wire.ResponseDone](c, "response.done").Response
			c.g.Expect(done.ID).To(gomega.Equal(ids[2-i]), "the shortest is done first")
			c.g.Expect(done.Usage.OutputTokenDetails.TextTokens).To(gomega.Equal(10 * (i + 1)))
		}
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.ID).To(gomega.Equal(main))
	})
}

// TestVoiceBesideTheConversation: a response has a voice where that goes out in events.
func TestVoiceBesideTheConversation(t *testing.T) {
	story(t, "it is spoken over a WebSocket, at once", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.ask("say 40 words")
		main := next[*wire.ResponseCreated](c, "response.created").Response.ID
		c.aside(ownInput("psst"))
		aside := next[*wire.ResponseCreated](c, "response.created").Response
		c.g.Expect(aside.OutputModalities).To(gomega.Equal([]string{"audio"}))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.ID).To(gomega.Equal(aside.ID))
		first(c, "response.done")
		_, of := c.audio()
		c.g.Expect(of[aside.ID]).To(gomega.Equal(len("You said: psst") * 60))
		c.g.Expect(of).To(gomega.HaveKey(main))
		c.g.Expect(c.names()).NotTo(gomega.ContainElement("conversation.item.truncated"))
	})

	story(t, "more than it may say ahead goes out all the same", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.aside(ownInput("say 60 words"))
		done := next[*wire.ResponseDone](c, "response.done").Response
		_, of := c.audio()
		c.g.Expect(of[done.ID]).To(gomega.BeNumerically(">", 10_000))
	})

	story(t, "over WebRTC it is text", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.aside(`,"output_modalities":["audio"]`)
		e := next[*wire.ErrorEvent](c, "error").Error
		c.g.Expect(deref(e.Param)).To(gomega.Equal("response.output_modalities"))
		c.g.Expect(deref(e.EventID)).To(gomega.Equal("aside"))
		c.aside(ownInput("psst"))
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.OutputModalities).To(gomega.Equal([]string{"text"}))
		c.g.Expect(c.count("output_audio_buffer.started")).To(gomega.BeZero())
	})
}

// TestEndsBesideTheConversation: how such a response ends.
func TestEndsBesideTheConversation(t *testing.T) {
	story(t, "a cancel names it; one without a name does not mean it", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.aside(asText + ownInput("stall"))
		id := next[*wire.ResponseCreated](c, "response.created").Response.ID
		c.send(`{"type":"response.cancel","event_id":"any"}`)
		c.g.Expect(next[*wire.ErrorEvent](c, "error").Error.Code).To(gomega.Equal("response_cancel_not_active"))
		c.send(`{"type":"response.cancel","response_id":"` + id + `"}`)
		c.send(`{"type":"response.cancel","event_id":"again","response_id":"` + id + `"}`)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(*done.StatusDetails).To(gomega.Equal(wire.StatusDetails{Type: "cancelled", Reason: "client_cancelled"}))
		c.g.Expect(deref(next[*wire.ErrorEvent](c, "error").Error.EventID)).To(gomega.Equal("again"))
		goesOn(c)
	})

	story(t, "their number is limited", func(t *testing.T) {
		c := byWebSocket(t, plain())
		var last string
		for range 8 {
			c.aside(asText + ownInput("stall"))
			last = next[*wire.ResponseCreated](c, "response.created").Response.ID
		}
		c.aside(asText + ownInput("stall"))
		e := next[*wire.ErrorEvent](c, "error").Error
		c.g.Expect([]string{e.Code, deref(e.Param), deref(e.EventID)}).To(gomega.Equal([]string{"too_many_responses", "response.conversation", "aside"}))
		c.send(`{"type":"response.cancel","response_id":"` + last + `"}`)
		first(c, "response.done")
		wait(time.Millisecond) // its goroutines end after it
		c.aside(asText + ownInput("hello"))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
		goesOn(c)
	})

	story(t, "the session's end ends it", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.aside(asText + ownInput("stall"))
		c.aside(ownInput("say 200 words"))
		first(c, "response.output_audio.delta")
	})

	story(t, "it fails alone", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.aside(asText + ownInput("fail"))
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Status).To(gomega.Equal("failed"))
		c.g.Expect(done.StatusDetails.Error.Code).To(gomega.Equal("model_failed"))
		goesOn(c)
	})
}

// TestWordsBesideTheConversation: what such a response shares with the one of the conversation.
func TestWordsBesideTheConversation(t *testing.T) {
	story(t, "it waits for the words of a turn, and a cancel ends that", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `transcriber: {delay: 3s}`))
		c.settle(`"audio":{"input":{"turn_detection":null}}`)
		c.append(spokenHello())
		c.send(`{"type":"input_audio_buffer.commit"}`)
		c.aside(asText)
		id := next[*wire.ResponseCreated](c, "response.created").Response.ID
		c.aside(asText)
		c.send(`{"type":"response.cancel","response_id":"` + id + `"}`)
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("cancelled"))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Text).To(gomega.Equal("You said: hello"))
	})

	story(t, "its machine is in the trace, by itself", func(t *testing.T) {
		c := newCaller(t, plain())
		steps := map[string][]string{}
		c.s.cfg.Trace = func(session string, st coord.Step) { steps[session] = append(steps[session], st.Machine+" "+st.Action) }
		c.start()
		c.aside(ownInput("say 1 word"))
		id := next[*wire.ResponseDone](c, "response.done").Response.ID
		wait(time.Millisecond)
		c.g.Expect(steps[c.s.ID()+"."+id]).To(gomega.Equal([]string{
			"response Start", "synthesis Begin", "synthesis Enqueue", "synthesis Finish", "synthesis Exit", "response Finish",
		}))
	})
}

func spokenHello() []int16 { return scripted.Tones("hello") }
