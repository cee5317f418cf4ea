package session

// Out-of-band responses: what they read, that they do not change the conversation, and how they end.

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// askOutOfBand requests an out-of-band response. more has further members of the request.
func (c *caller) askOutOfBand(more string) {
	c.send(`{"type":"response.create","event_id":"askOutOfBand","response":{"conversation":"none"` + more + `}}`)
}

const asText = `,"output_modalities":["text"]`

// ownInput returns the member "input" of a request, with one message.
func ownInput(text string) string {
	return `,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}]`
}

func TestOutOfBandResponses(t *testing.T) {
	story(t, "it reads the conversation and does not change it", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.ask("alpha")
		first(c, "response.done")
		items := c.count("conversation.item.added")
		c.askOutOfBand(asText + `,"metadata":{"topic":"check"}`)
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
		c.askOutOfBand(asText + `,"input":[{"type":"item_reference","id":"one"}],"instructions":"one two three"`)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Output[0].Content[0].Text).To(gomega.Equal("You said: alpha"))
		c.g.Expect(done.Usage.InputTokens).To(gomega.Equal(4))
		c.askOutOfBand(asText + `,"input":[]`)
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Text).To(gomega.Equal("You said: "))
	})

	story(t, "several run while the agent speaks, independently", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `model: {token: 50ms}`))
		c.ask("say 60 words")
		main := next[*wire.ResponseCreated](c, "response.created").Response.ID
		var ids []string
		for i := range 3 {
			c.askOutOfBand(asText + ownInput(fmt.Sprintf("say %d words", 10*(3-i))))
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

// TestAudioOfOutOfBandResponses: an out-of-band response has audio where audio goes out in events, and only text over WebRTC.
func TestAudioOfOutOfBandResponses(t *testing.T) {
	story(t, "it is spoken over a WebSocket, at once", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.ask("say 40 words")
		main := next[*wire.ResponseCreated](c, "response.created").Response.ID
		c.askOutOfBand(ownInput("psst"))
		askOutOfBand := next[*wire.ResponseCreated](c, "response.created").Response
		c.g.Expect(askOutOfBand.OutputModalities).To(gomega.Equal([]string{"audio"}))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.ID).To(gomega.Equal(askOutOfBand.ID))
		first(c, "response.done")
		_, of := c.audio()
		c.g.Expect(of[askOutOfBand.ID]).To(gomega.Equal(len("You said: psst") * 60))
		c.g.Expect(of).To(gomega.HaveKey(main))
		c.g.Expect(c.Names()).NotTo(gomega.ContainElement("conversation.item.truncated"))
	})

	story(t, "all of its audio is sent, however much is ahead of playback", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.askOutOfBand(ownInput("say 60 words"))
		done := next[*wire.ResponseDone](c, "response.done").Response
		_, of := c.audio()
		c.g.Expect(of[done.ID]).To(gomega.BeNumerically(">", 10_000))
	})

	story(t, "over WebRTC it is text", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.askOutOfBand(`,"output_modalities":["audio"]`)
		e := next[*wire.ErrorEvent](c, "error").Error
		c.g.Expect(deref(e.Param)).To(gomega.Equal("response.output_modalities"))
		c.g.Expect(deref(e.EventID)).To(gomega.Equal("askOutOfBand"))
		c.askOutOfBand(ownInput("psst"))
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.OutputModalities).To(gomega.Equal([]string{"text"}))
		c.g.Expect(c.count("output_audio_buffer.started")).To(gomega.BeZero())
	})
}

// TestEndsOfOutOfBandResponses: how an out-of-band response ends.
func TestEndsOfOutOfBandResponses(t *testing.T) {
	story(t, "only a cancel with its id cancels it", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.askOutOfBand(asText + ownInput("stall"))
		id := next[*wire.ResponseCreated](c, "response.created").Response.ID
		c.send(`{"type":"response.cancel","event_id":"any"}`)
		c.g.Expect(next[*wire.ErrorEvent](c, "error").Error.Code).To(gomega.Equal("response_cancel_not_active"))
		c.send(`{"type":"response.cancel","response_id":"` + id + `"}`)
		c.send(`{"type":"response.cancel","event_id":"again","response_id":"` + id + `"}`)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(*done.StatusDetails).To(gomega.Equal(wire.StatusDetails{Type: "cancelled", Reason: "client_cancelled"}))
		c.g.Expect(deref(next[*wire.ErrorEvent](c, "error").Error.EventID)).To(gomega.Equal("again"))
		expectSessionWorks(c)
	})

	story(t, "their number is limited", func(t *testing.T) {
		c := byWebSocket(t, plain())
		var last string
		for range 8 {
			c.askOutOfBand(asText + ownInput("stall"))
			last = next[*wire.ResponseCreated](c, "response.created").Response.ID
		}
		c.askOutOfBand(asText + ownInput("stall"))
		e := next[*wire.ErrorEvent](c, "error").Error
		c.g.Expect([]string{e.Code, deref(e.Param), deref(e.EventID)}).To(gomega.Equal([]string{"too_many_responses", "response.conversation", "askOutOfBand"}))
		c.send(`{"type":"response.cancel","response_id":"` + last + `"}`)
		first(c, "response.done")
		wait(time.Millisecond) // its goroutines end after its last event
		c.askOutOfBand(asText + ownInput("hello"))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
		expectSessionWorks(c)
	})

	story(t, "the session's end ends it", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.askOutOfBand(asText + ownInput("stall"))
		c.askOutOfBand(ownInput("say 200 words"))
		first(c, "response.output_audio.delta")
	})

	story(t, "its failure does not touch other responses", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.askOutOfBand(asText + ownInput("fail"))
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Status).To(gomega.Equal("failed"))
		c.g.Expect(done.StatusDetails.Error.Code).To(gomega.Equal("model_failed"))
		expectSessionWorks(c)
	})
}

// TestOutOfBandResponsesWaitForTranscripts: an out-of-band response waits for transcripts, and its machine is traced.
func TestOutOfBandResponsesWaitForTranscripts(t *testing.T) {
	story(t, "it waits for a transcript, and a cancel ends the wait", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `transcriber: {delay: 3s}`))
		c.settle(`"audio":{"input":{"turn_detection":null}}`)
		c.append(spokenHello())
		c.send(`{"type":"input_audio_buffer.commit"}`)
		c.askOutOfBand(asText)
		id := next[*wire.ResponseCreated](c, "response.created").Response.ID
		c.askOutOfBand(asText)
		c.send(`{"type":"response.cancel","response_id":"` + id + `"}`)
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("cancelled"))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Text).To(gomega.Equal("You said: hello"))
	})

	story(t, "the trace has the steps of its own machine", func(t *testing.T) {
		c := newCaller(t, plain())
		steps := map[string][]string{}
		c.s.cfg.Trace = func(session string, st coord.Step) { steps[session] = append(steps[session], st.Machine+" "+st.Action) }
		c.start()
		c.askOutOfBand(ownInput("say 1 word"))
		id := next[*wire.ResponseDone](c, "response.done").Response.ID
		wait(time.Millisecond)
		c.g.Expect(steps[c.s.ID()+"."+id]).To(gomega.Equal([]string{
			"response Start", "synthesis Begin", "synthesis Enqueue", "synthesis Finish", "synthesis Exit", "response Finish",
		}))
	})
}

func spokenHello() []int16 { return scripted.Tones("hello") }
