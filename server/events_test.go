package server_test

// Client events through the whole server: refused ones, sizes, items, truncation and settings.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/wire"
)

// badEvent is an event of a client that the server refuses.
type badEvent struct {
	name, text  string
	code, param string
	says        string // what the message must contain
	cause       string // the event_id that the error names
}

func badEvents() []badEvent {
	return []badEvent{
		{"no JSON", `{"type":`, "invalid_json", "", "", ""},
		{"JSON, but no object", `[1,2]`, "invalid_type", "", "object", ""},
		{"no type", `{"event_id":"e1"}`, "missing_field", "type", "", "e1"},
		{"an unknown type", `{"type":"response.sing","event_id":"e2"}`, "unknown_event", "type", "response.sing", "e2"},
		{"a server's event", `{"type":"response.done","event_id":"e3"}`, "unknown_event", "type", "", "e3"},
		{"a field of the wrong type", `{"type":"conversation.item.delete","event_id":"e4","item_id":7}`, "invalid_type", "item_id", "", "e4"},
		{"a field that is missing", `{"type":"conversation.item.delete","event_id":"e5"}`, "missing_field", "item_id", "", "e5"},
		{"audio that is no base64", `{"type":"input_audio_buffer.append","event_id":"e6","audio":"%%%"}`, "invalid_value", "audio", "base64", "e6"},
		{"half a sample", `{"type":"input_audio_buffer.append","event_id":"e7","audio":"AAAA"}`, "invalid_value", "audio", "even", "e7"},
		{"a commit of nothing", `{"type":"input_audio_buffer.commit","event_id":"e8"}`, "input_audio_buffer_commit_empty", "", "100ms", "e8"},
		{"deleting an unknown item", `{"type":"conversation.item.delete","event_id":"e9","item_id":"x"}`, "item_delete_invalid_item_id", "item_id", `"x"`, "e9"},
		{"retrieving an unknown item", `{"type":"conversation.item.retrieve","event_id":"e10","item_id":"x"}`, "item_retrieve_invalid_item_id", "item_id", `"x"`, "e10"},
		{
			"truncating an unknown item", `{"type":"conversation.item.truncate","event_id":"e11","item_id":"x","content_index":0,"audio_end_ms":1}`,
			"item_truncate_invalid_item_id", "item_id", `"x"`, "e11",
		},
		{
			"an item after one that is not there", `{"type":"conversation.item.create","event_id":"e12","previous_item_id":"x","item":` + hello + `}`,
			"item_create_invalid_previous_item_id", "previous_item_id", "root", "e12",
		},
		{
			"an item of an unknown type", `{"type":"conversation.item.create","event_id":"e13","item":{"type":"song"}}`,
			"invalid_value", "item.type", "message", "e13",
		},
		{
			"a message of nobody", `{"type":"conversation.item.create","event_id":"e14","item":{"type":"message","role":"cat","content":[]}}`,
			"invalid_value", "item.role", "user", "e14",
		},
		{
			"a message without content", `{"type":"conversation.item.create","event_id":"e15","item":{"type":"message","role":"user","content":[]}}`,
			"invalid_value", "item.content", "content part", "e15",
		},
		{
			"a user's message of output", `{"type":"conversation.item.create","event_id":"e16","item":{"type":"message","role":"user","content":[{"type":"output_text","text":"hi"}]}}`,
			"invalid_value", "item.content[0].type", "input_text", "e16",
		},
		{
			"half a sample as an item", `{"type":"conversation.item.create","event_id":"e17","item":{"type":"message","role":"user","content":[{"type":"input_audio","audio":"AAAA"}]}}`,
			"invalid_value", "item.content[0].audio", "2 bytes a sample", "e17",
		},
		{
			"a call without a name", `{"type":"conversation.item.create","event_id":"e18","item":{"type":"function_call","arguments":"{}"}}`,
			"missing_field", "item.name", "", "e18",
		},
		{
			"a result of no call", `{"type":"conversation.item.create","event_id":"e19","item":{"type":"function_call_output","output":"1"}}`,
			"missing_field", "item.call_id", "", "e19",
		},
		{"cancelling nothing", `{"type":"response.cancel","event_id":"e20"}`, "response_cancel_not_active", "", "Cancellation failed", "e20"},
		{"cancelling what never was", `{"type":"response.cancel","event_id":"e21","response_id":"resp_x"}`, "response_cancel_not_active", "", "", "e21"},
		{"clearing output that the client holds", `{"type":"output_audio_buffer.clear","event_id":"e22"}`, "unsupported_event", "type", "WebRTC", "e22"},
		{
			"a response to an odd conversation", `{"type":"response.create","event_id":"e23","response":{"conversation":"mine"}}`,
			"invalid_value", "response.conversation", "auto", "e23",
		},
		{
			"a response to an unknown item", `{"type":"response.create","event_id":"e24","response":{"input":[{"type":"item_reference","id":"x"}]}}`,
			"item_not_found", "response.input[0].id", "x", "e24",
		},
		{
			"a response with a connector",
			`{"type":"response.create","event_id":"e28","response":{"tools":[{"type":"mcp","server_label":"x","connector_id":"connector_gmail"}]}}`,
			"invalid_value", "response.tools[0].connector_id", "server_url", "e28",
		},
	}
}

// badSettings returns changes of the session that the server refuses.
func badSettings() []badEvent {
	return []badEvent{
		{"the wrong rate", update("e25", `"audio":{"input":{"format":{"type":"audio/pcm","rate":16000}}}`), "invalid_value", "session.audio.input.format.rate", "24000", "e25"},
		{"a telephone at another rate", update("e26", `"audio":{"input":{"format":{"type":"audio/pcmu","rate":16000}}}`), "invalid_value", "session.audio.input.format.rate", "8000", "e26"},
		{"an unknown format", update("e27", `"audio":{"output":{"format":{"type":"audio/opus"}}}`), "invalid_value", "session.audio.output.format.type", "audio/pcm", "e27"},
		{"an impossible threshold", update("e29", `"audio":{"input":{"turn_detection":{"threshold":7}}}`), "invalid_value", "session.audio.input.turn_detection.threshold", "", "e29"},
		{"another kind of session", `{"type":"session.update","event_id":"e30","session":{"type":"transcription"}}`, "invalid_value", "session.type", "realtime", "e30"},
	}
}

// TestBadEvents checks that every wrong event is answered with an error that names the event and says what to do, and that the session
// goes on.
func TestBadEvents(t *testing.T) {
	for _, row := range append(badEvents(), badSettings()...) {
		story(t, row.name, func(t *testing.T) {
			c := dial(t)
			c.sendText(row.text)
			e := refused(c, row.code, row.cause)
			param := ""
			if e.Param != nil {
				param = *e.Param
			}
			c.g.Expect(param).To(gomega.Equal(row.param), e.Message)
			c.g.Expect(e.Message).To(gomega.ContainSubstring(row.says))
			c.g.Expect(e.Type).To(gomega.Equal("invalid_request_error"))
			goesOn(c)
		})
	}
}

// hello is an event with a message of the user.
const hello = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}`

func update(id, session string) string {
	return `{"type":"session.update","event_id":"` + id + `","session":{"type":"realtime",` + session + `}}`
}

func TestMessages(t *testing.T) {
	story(t, "a binary message is no event", func(t *testing.T) {
		c := dial(t)
		c.message(websocket.MessageBinary, []byte(`{"type":"response.create"}`))
		refused(c, "invalid_json", "")
		goesOn(c)
	})

	// LocalAI#10407: an event over 256 KiB kills the send loop and the turn goes silent.
	story(t, "the server refuses an event above its limit and takes one below it", func(t *testing.T) {
		c := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) { c.MaxMessage = 1 << 20 }).dial()
		c.sendText(update("big", `"instructions":"`+strings.Repeat("x", 1<<20)+`"`))
		e := refused(c, "message_too_large", "")
		c.g.Expect(e.Message).To(gomega.ContainSubstring("1048576"))
		answer := c.settle(`"instructions":"` + strings.Repeat("x", 1_000_000) + `"`)
		c.g.Expect(answer.Session.Instructions).To(gomega.HaveLen(1_000_000))
		goesOn(c)
	})

	story(t, "events before session.created are handled after it, and their errors follow it", func(t *testing.T) {
		h := serve(t, byScript(t, "load: 2s"), nil)
		c := h.call()
		c.sendText(`{"type":"conversation.item.delete","event_id":"first","item_id":"x"}`)
		c.sendText(`{"type":"response.sing","event_id":"second"}`)
		c.sendText(update("third", `"instructions":"Be brief."`))
		c.g.Expect(next[*wire.SessionCreated](c, "session.created").Session.Instructions).To(gomega.BeEmpty())
		refused(c, "item_delete_invalid_item_id", "first")
		refused(c, "unknown_event", "second")
		c.g.Expect(next[*wire.SessionUpdated](c, "session.updated").Session.Instructions).To(gomega.Equal("Be brief."))
		c.g.Expect(c.names()[0]).To(gomega.Equal("session.created"))
	})

	story(t, "a session begins as the configuration says", func(t *testing.T) {
		h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) {
			c.Instructions = "Be long."
			c.Session = []byte(`{"instructions":"Be brief.","audio":{"input":{"turn_detection":null}}}`)
		})
		set := next[*wire.SessionCreated](h.call(), "session.created").Session
		gomega.NewWithT(t).Expect(set.Instructions).To(gomega.Equal("Be brief."))
		gomega.NewWithT(t).Expect(set.Audio.Input.TurnDetection).To(gomega.BeNil())
		_, err := server.New(server.Config{Pipeline: scripted.New(scripted.Options{}), Session: []byte(`{"output_modalities":["smell"]}`)})
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.HavePrefix("session.output_modalities: ")))
	})

	story(t, "the server reports events before session.created that it had no room for", func(t *testing.T) {
		h := serve(t, byScript(t, "load: 2s"), nil)
		c := h.call()
		for i := range 70 {
			c.sendText(fmt.Sprintf(`{"type":"conversation.item.retrieve","event_id":"e%d","item_id":"x"}`, i))
		}
		first(c, "session.created")
		for i := range 64 {
			refused(c, "item_retrieve_invalid_item_id", fmt.Sprintf("e%d", i))
		}
		c.g.Expect(refused(c, "session_not_ready", "").Message).To(gomega.ContainSubstring("6 events"))
		goesOn(c)
	})

	story(t, "the extension is acknowledged", func(t *testing.T) {
		c := dial(t)
		c.sendText(`{"type":"antiphon.hello","event_id":"hi","metrics":true}`)
		c.g.Expect(next[*wire.AntiphonAck](c, "antiphon.ack").Acknowledges).To(gomega.Equal("hi"))
	})
}

func TestItems(t *testing.T) {
	// LiveKit waits for the id that it sent. Another server sent "TODO" as previous_item_id.
	story(t, "items keep their ids and their order", func(t *testing.T) {
		c := dial(t)
		create := func(id, previous string) *wire.ConversationItemAdded {
			e := &wire.ConversationItemCreate{PreviousItemID: previous, Item: wire.Item{
				ID: id, Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: id}},
			}}
			c.send(e)
			added := next[*wire.ConversationItemAdded](c, "conversation.item.added")
			done := next[*wire.ConversationItemDone](c, "conversation.item.done")
			c.g.Expect(done.PreviousItemID).To(gomega.Equal(added.PreviousItemID))
			c.g.Expect(done.Item).To(gomega.Equal(added.Item))
			return added
		}
		c.g.Expect(create("b", "").PreviousItemID).To(gomega.BeNil())
		c.g.Expect(create("d", "").PreviousItemID).To(gomega.HaveValue(gomega.Equal("b")))
		c.g.Expect(create("a", "root").PreviousItemID).To(gomega.BeNil())
		c.g.Expect(create("c", "b").PreviousItemID).To(gomega.HaveValue(gomega.Equal("b")))
		c.g.Expect(create("e", "").PreviousItemID).To(gomega.HaveValue(gomega.Equal("d")))

		c.sendText(`{"type":"conversation.item.create","event_id":"twice","item":{"id":"a",` + hello[1:] + `}`)
		refused(c, "item_already_exists", "twice")

		c.sendText(`{"type":"conversation.item.delete","item_id":"c"}`)
		c.g.Expect(next[*wire.ConversationItemDeleted](c, "conversation.item.deleted").ItemID).To(gomega.Equal("c"))
		c.sendText(`{"type":"conversation.item.retrieve","item_id":"b"}`)
		item := next[*wire.ConversationItemRetrieved](c, "conversation.item.retrieved").Item
		c.g.Expect(item.Content[0].Text).To(gomega.Equal("b"))
		c.g.Expect(item.Status).To(gomega.Equal("completed"))
		c.sendText(`{"type":"conversation.item.retrieve","event_id":"gone","item_id":"c"}`)
		refused(c, "item_retrieve_invalid_item_id", "gone")
		goesOn(c)
	})

	// The agents SDK fails on input_audio without the key transcript. The codec writes the key, and an item may have it.
	story(t, "a client inserts a history and continues it", func(t *testing.T) {
		c := dial(t)
		for _, item := range []string{
			`{"type":"message","role":"system","content":[{"type":"input_text","text":"Be kind."}]}`,
			`{"type":"message","role":"user","content":[{"type":"input_audio","transcript":"hello"}]}`,
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi."}]}`,
			`{"type":"function_call","name":"clock","arguments":"{}"}`,
		} {
			c.sendText(`{"type":"conversation.item.create","item":` + item + `}`)
			c.g.Expect(next[*wire.ConversationItemAdded](c, "conversation.item.added").Item.ID).NotTo(gomega.BeEmpty())
		}
		goesOn(c)
	})
}

// TestTruncatedItems checks which items a client may truncate, and how far.
func TestTruncatedItems(t *testing.T) {
	// Truncate beyond what was sent: openai-agents-python#2370; at 0 before the first audio: livekit/agents#6157.
	story(t, "a truncation stays within the audio", func(t *testing.T) {
		c := dial(t)
		c.ask("say 12 words")
		item := next[*wire.ResponseOutputItemAdded](c, "response.output_item.added").Item
		first(c, "response.done")
		truncate := func(id, item string, index, ms int) {
			c.sendText(fmt.Sprintf(`{"type":"conversation.item.truncate","event_id":%q,"item_id":%q,"content_index":%d,"audio_end_ms":%d}`, id, item, index, ms))
		}
		truncate("beyond", item.ID, 0, 1_000_000)
		c.g.Expect(refused(c, "invalid_value", "beyond").Param).To(gomega.HaveValue(gomega.Equal("audio_end_ms")))
		truncate("before", item.ID, 0, -1)
		refused(c, "invalid_value", "before")
		truncate("part", item.ID, 1, 100)
		c.g.Expect(refused(c, "invalid_value", "part").Param).To(gomega.HaveValue(gomega.Equal("content_index")))

		truncate("", item.ID, 0, 900)
		c.g.Expect(next[*wire.ConversationItemTruncated](c, "conversation.item.truncated")).To(gomega.HaveField("AudioEndMS", 900))
		c.sendText(`{"type":"conversation.item.retrieve","item_id":"` + item.ID + `"}`)
		heard := next[*wire.ConversationItemRetrieved](c, "conversation.item.retrieved").Item
		c.g.Expect(heard.Content[0].Transcript).To(gomega.HaveValue(gomega.Equal("One two three")), "60 ms a character: 15 of them")

		truncate("again", item.ID, 0, 1000)
		refused(c, "invalid_value", "again")
		truncate("", item.ID, 0, 0)
		c.g.Expect(next[*wire.ConversationItemTruncated](c, "conversation.item.truncated")).To(gomega.HaveField("AudioEndMS", 0))
		goesOn(c)
	})

	story(t, "only audio of the model can be truncated", func(t *testing.T) {
		c := dial(t)
		c.write("hello")
		item := next[*wire.ConversationItemAdded](c, "conversation.item.added").Item
		c.send(&wire.ConversationItemTruncate{EventID: "mine", ItemID: item.ID})
		e := refused(c, "unsupported_content_type", "mine")
		c.g.Expect(e.Message).To(gomega.Equal("Only model output audio messages can be truncated"))
		goesOn(c)
	})
}

func TestSettings(t *testing.T) {
	// openai-realtime-console#35: a partial turn_detection resets the other fields.
	story(t, "a partial turn_detection changes only the fields that it names", func(t *testing.T) {
		c := dial(t)
		c.settle(`"audio":{"input":{"turn_detection":{"type":"server_vad","threshold":0.4,"prefix_padding_ms":200,"silence_duration_ms":700,"interrupt_response":false}}}`)
		td := c.settle(`"audio":{"input":{"turn_detection":{"silence_duration_ms":300}}}`).Session.Audio.Input.TurnDetection
		c.g.Expect(*td).To(gomega.Equal(wire.TurnDetection{
			Type: "server_vad", Threshold: 0.4, PrefixPaddingMS: 200, SilenceDurationMS: 300, CreateResponse: true, InterruptResponse: false, Eagerness: "auto",
		}))
	})

	// Another server ignores the change until the next session.
	story(t, "silence_duration_ms takes effect at once, also in the middle of a turn", func(t *testing.T) {
		c := dial(t)
		c.settle(`"audio":{"input":{"turn_detection":{"silence_duration_ms":3000}}}`)
		c.say(quiet(300))
		c.say(scripted.Tones("hello"))
		c.say(quiet(600))
		first(c, "input_audio_buffer.speech_started")
		c.g.Expect(c.names()).NotTo(gomega.ContainElement("input_audio_buffer.speech_stopped"))
		c.settle(`"audio":{"input":{"turn_detection":{"silence_duration_ms":400}}}`)
		c.say(quiet(20))
		first(c, "input_audio_buffer.speech_stopped")
		first(c, "response.done")
	})

	story(t, "fields that a session may not change keep their values", func(t *testing.T) {
		c := dial(t)
		before := c.settle(`"instructions":"a"`).Session
		after := c.settle(`"id":"sess_mine","expires_at":1,"object":"x","audio":{"input":{"noise_reduction":{"type":"near_field"}}}`).Session
		c.g.Expect(after.ID).To(gomega.Equal(before.ID))
		c.g.Expect(after.ExpiresAt).To(gomega.Equal(before.ExpiresAt))
		c.g.Expect(after.Audio.Input.NoiseReduction).To(gomega.BeNil(), "the server has no noise reduction, and says so")
	})
}
