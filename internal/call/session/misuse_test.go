package session

// Events that a client sends at the wrong time or with unknown names: which error answers each.

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// overBoth runs a story over each transport, with the pipeline of the script stage.
func overBoth(t *testing.T, name string, tell func(c *caller)) {
	t.Helper()
	for _, media := range []bool{true, false} {
		story(t, fmt.Sprintf("%s (WebRTC %t)", name, media), func(t *testing.T) {
			tell(onStage(t, media, wire.DefaultSession()).start())
		})
	}
}

// wrong sends an event with the event_id "e", and checks the code and param of the error.
func (c *caller) wrong(text, code, param string) {
	c.t.Helper()
	c.send(`{"event_id":"e",` + text + `}`)
	e := next[*wire.ErrorEvent](c, "error").Error
	c.g.Expect([]string{e.Code, deref(e.Param), deref(e.EventID)}).To(gomega.Equal([]string{code, param, "e"}), "%s: %s", text, e.Message)
	c.g.Expect(e.Type).To(gomega.Equal("invalid_request_error"))
}

// TestMisuse: an event at the wrong time has an error code of its own, which real clients depend on. It ends neither the session nor a
// live response.
func TestMisuse(t *testing.T) {
	// "already has an active response", two writers: openai-agents-python#1466. A client must look at the code, not at the
	// message (openai-agents-js, responseCreateSequencer).
	overBoth(t, "a second response while one is live, in three variants", func(c *caller) {
		c.ask("say 40 words")
		live := next[*wire.ResponseCreated](c, "response.created").Response.ID
		for range 3 {
			c.wrong(`"type":"response.create"`, "conversation_already_has_active_response", "")
			c.wrong(`"type":"response.create","response":{"conversation":"auto"}`, "conversation_already_has_active_response", "")
		}
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect([]string{done.ID, done.Status}).To(gomega.Equal([]string{live, "completed"}), "the live one goes on")
		expectSessionWorks(c)
	})

	overBoth(t, "a cancel with nothing live, and of another response", func(c *caller) {
		c.wrong(`"type":"response.cancel"`, "response_cancel_not_active", "")
		c.wrong(`"type":"response.cancel","response_id":"resp_nobody"`, "response_cancel_not_active", "")
		c.ask("say 40 words")
		first(c, "response.created")
		c.wrong(`"type":"response.cancel","response_id":"resp_nobody"`, "response_cancel_not_active", "")
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
		c.wrong(`"type":"response.cancel"`, "response_cancel_not_active", "")
		expectSessionWorks(c)
	})

	// A server that was compared with this one does not answer unknown item ids and unknown events.
	overBoth(t, "unknown items and unknown events", func(c *caller) {
		c.wrong(`"type":"conversation.item.delete","item_id":"nobody"`, "item_delete_invalid_item_id", "item_id")
		c.wrong(`"type":"conversation.item.retrieve","item_id":"nobody"`, "item_retrieve_invalid_item_id", "item_id")
		c.wrong(`"type":"conversation.item.truncate","item_id":"nobody","content_index":0,"audio_end_ms":0`, "item_truncate_invalid_item_id", "item_id")
		c.wrong(`"type":"conversation.item.create","previous_item_id":"nobody","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`,
			"item_create_invalid_previous_item_id", "previous_item_id")
		c.wrong(`"type":"response.create","response":{"input":[{"type":"item_reference","id":"nobody"}]}`, "item_not_found", "response.input[0].id")
		c.wrong(`"type":"response.sing"`, "unknown_event", "type")
		c.wrong(`"type":"response.done"`, "unknown_event", "type")
		c.wrong(`"typ":"response.create"`, "missing_field", "type")
		expectSessionWorks(c)
	})
}

// TestTruncationOfUnsentAudio: a truncation cannot refer to audio that was not sent.
func TestTruncationOfUnsentAudio(t *testing.T) {
	// Beyond what was sent: openai-agents-python#2370.
	overBoth(t, "a truncation beyond the end", func(c *caller) {
		c.ask("say 12 words")
		item := next[*wire.ResponseDone](c, "response.done").Response.Output[0].ID
		cut := `"type":"conversation.item.truncate","item_id":"` + item + `","content_index":0,"audio_end_ms":`
		c.wrong(cut+`3600000`, "invalid_value", "audio_end_ms")
		c.wrong(cut+`384307168202283`, "invalid_value", "audio_end_ms") // in samples it does not fit into 64 bits
		c.wrong(cut+`-1`, "invalid_value", "audio_end_ms")
		c.wrong(`"type":"conversation.item.truncate","item_id":"`+item+`","content_index":1,"audio_end_ms":0`, "invalid_value", "content_index")
		c.g.Expect(c.count("conversation.item.truncated")).To(gomega.BeZero())
		expectSessionWorks(c)
	})

	// At 0, before the first audio: livekit/agents#6157. A message without audio has a code of its own.
	overBoth(t, "a truncation before the first audio", func(c *caller) {
		c.ask("say 12 words")
		item := next[*wire.ResponseOutputItemAdded](c, "response.output_item.added").Item.ID
		first(c, "response.content_part.added")
		c.send(`{"type":"conversation.item.truncate","item_id":"` + item + `","content_index":0,"audio_end_ms":0}`)
		e := c.First("conversation.item.truncated", "error")
		if bad, is := e.(*wire.ErrorEvent); is { // the item has no text yet
			c.g.Expect(bad.Error.Code).To(gomega.Equal("unsupported_content_type"))
		}
		first(c, "response.done")
		c.send(`{"type":"conversation.item.create","item":{"id":"mine","type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`)
		c.wrong(`"type":"conversation.item.truncate","item_id":"mine","content_index":0,"audio_end_ms":0`, "unsupported_content_type", "item_id")
		expectSessionWorks(c)
	})

	// A client that plays by itself has no audio that the server holds back or that waits for another response.
	story(t, "a truncation of what was generated and not sent", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `synthesizer: {speedup: 4}`))
		c.quiet(300)
		c.ask("say 60 words")
		c.speak(scripted.Tones("stop it now please")[:24*100])
		item := next[*wire.ResponseOutputItemAdded](c, "response.output_item.added").Item.ID
		wait(200 * time.Millisecond)
		_, of := c.audio()
		c.wrong(fmt.Sprintf(`"type":"conversation.item.truncate","item_id":%q,"content_index":0,"audio_end_ms":%d`, item, of[c.live()]+100),
			"invalid_value", "audio_end_ms")
		c.send(`{"type":"response.cancel"}`)
		first(c, "response.done")
	})
}

// TestItemsDeletedDuringTheirResponse: a client deletes an item while its response is live.
func TestItemsDeletedDuringTheirResponse(t *testing.T) {
	story(t, "no more events come about a deleted item", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("say 60 words")
		item := next[*wire.ResponseOutputItemAdded](c, "response.output_item.added").Item.ID
		first(c, "output_audio_buffer.started")
		c.send(`{"type":"conversation.item.delete","item_id":"` + item + `"}`)
		first(c, "conversation.item.deleted")
		c.quiet(2000)
		c.utter("stop it now please")
		first(c, "output_audio_buffer.cleared")
		c.g.Expect(next[*wire.ResponseOutputItemDone](c, "response.output_item.done").Item.ID).To(gomega.Equal(item), "its response has it")
		first(c, "response.done")
		first(c, "response.done")
		c.g.Expect(c.count("conversation.item.truncated")).To(gomega.BeZero())
		c.g.Expect(c.doneItems()).NotTo(gomega.ContainElement(item))
	})

	// A client corrects an item by deleting it and creating it anew (openai-agents-js, resetHistory).
	story(t, "no more events come about the old text of a corrected item", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.ask("say 60 words")
		item := next[*wire.ResponseOutputItemAdded](c, "response.output_item.added").Item.ID
		c.send(`{"type":"conversation.item.delete","item_id":"` + item + `"}`)
		c.send(`{"type":"conversation.item.create","item":{"id":"` + item + `","type":"message","role":"assistant","content":[{"type":"output_text","text":"mine"}]}}`)
		first(c, "response.done")
		c.send(`{"type":"conversation.item.retrieve","item_id":"` + item + `"}`)
		kept := next[*wire.ConversationItemRetrieved](c, "conversation.item.retrieved").Item
		c.g.Expect(kept.Content).To(gomega.HaveExactElements(gomega.HaveField("Text", "mine")))
		c.g.Expect(c.doneItems()).To(gomega.ContainElement(item))
	})
}

// TestEmptyBuffersAndTakenNames: commits and clears of empty buffers, and an item id that is in use.
func TestEmptyBuffersAndTakenNames(t *testing.T) {
	overBoth(t, "a commit of nothing, and of next to nothing", func(c *caller) {
		c.settle(`"audio":{"input":{"turn_detection":null}}`)
		c.wrong(`"type":"input_audio_buffer.commit"`, "input_audio_buffer_commit_empty", "")
		c.append(scripted.Tones("hi")[:99*24])
		c.wrong(`"type":"input_audio_buffer.commit"`, "input_audio_buffer_commit_empty", "")
		c.wrong(`"type":"input_audio_buffer.append","audio":"AAAA"`, "invalid_value", "audio")
		c.wrong(`"type":"input_audio_buffer.append","audio":"not base64"`, "invalid_value", "audio")
		expectSessionWorks(c)
	})

	overBoth(t, "output_audio_buffer.clear when nothing sounds", func(c *caller) {
		if c.pacer == nil {
			c.wrong(`"type":"output_audio_buffer.clear"`, "unsupported_event", "type")
		} else {
			c.send(`{"type":"output_audio_buffer.clear"}`)
		}
		expectSessionWorks(c)
		c.g.Expect(c.count("output_audio_buffer.cleared")).To(gomega.BeZero())
	})

	overBoth(t, "an id that is taken", func(c *caller) {
		c.send(`{"type":"conversation.item.create","item":{"id":"mine","type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`)
		c.wrong(`"type":"conversation.item.create","item":{"id":"mine","type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`,
			"item_already_exists", "item.id")
		expectSessionWorks(c)
	})
}

// doneItems returns the ids in the conversation.item.done so far.
func (c *caller) doneItems() []string {
	var all []string
	for _, e := range c.All() {
		if done, is := e.(*wire.ConversationItemDone); is {
			all = append(all, done.Item.ID)
		}
	}
	return all
}

// live returns the id of the newest response.
func (c *caller) live() string {
	id := ""
	for _, e := range c.All() {
		if created, is := e.(*wire.ResponseCreated); is {
			id = created.Response.ID
		}
	}
	return id
}
