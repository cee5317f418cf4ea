package session

// Short conversations that together contain every event of the protocol.

import (
	"fmt"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// scenes returns short conversations by name. Together they contain each event of the protocol, and each runs over both transports.
func scenes() map[string]func(c *caller) {
	return map[string]func(c *caller){
		"settings":       changeEverything,
		"a spoken turn":  speakAndInterrupt,
		"two people":     bothSpeak,
		"a lost turn":    loseWords,
		"a manual turn":  commitByHand,
		"items":          moveItems,
		"a tool":         callTool,
		"server tools":   runTools,
		"remote tools":   runRemoteTools,
		"a text":         writeText,
		"cancel, clear":  cancelAndClear,
		"silence":        sayNothing,
		"bad ends":       endBadly,
		"other formats":  narrowBand,
		"eager semantic": understandEnd,
		"keys": func(c *caller) {
			if c.pacer != nil { // a telephone is paced by the server
				c.s.Digit('5')
				first(c, "input_audio_buffer.dtmf_event_received")
			}
		},
	}
}

// changeEverything sets every field of the session object.
func changeEverything(c *caller) {
	c.send(`{"type":"session.update","event_id":"all","session":{"type":"realtime","model":"other","output_modalities":["audio"],
		"instructions":"Be brief.","max_output_tokens":400,"tool_choice":{"type":"function","name":"clock"},"parallel_tool_calls":false,
		"tracing":{"workflow_name":"w","group_id":"g","metadata":{"a":"b"}},"prompt":{"id":"pmpt_guide","version":"2","variables":{"mood":"kind"}},
		"include":["item.input_audio_transcription.logprobs"],"truncation":{"type":"retention_ratio","retention_ratio":0.8},
		"tools":[{"type":"function","name":"clock","description":"what time it is","parameters":{"type":"object"}},{"type":"mcp","server_label":"x","server_url":"http://127.0.0.1:9","server_description":"d","allowed_tools":["a"],"require_approval":"never"}],
		"audio":{"input":{"format":{"type":"audio/pcm","rate":24000},"noise_reduction":{"type":"near_field"},
		"transcription":{"model":"any","language":"en","prompt":"names"},
		"turn_detection":{"type":"server_vad","threshold":0.4,"prefix_padding_ms":200,"silence_duration_ms":400,"idle_timeout_ms":6000,
		"create_response":true,"interrupt_response":true}},
		"output":{"format":{"type":"audio/pcm","rate":24000},"voice":"slt","speed":1.25}}}}`)
	set := next[*wire.SessionUpdated](c, "session.updated").Session
	c.g.Expect(set.Audio.Input.NoiseReduction).To(gomega.BeNil(), "there is none: it comes back as null")
	first(c, "mcp_list_tools.failed")
	c.send(`{"type":"session.update","session":{"type":"realtime","tracing":null,"prompt":null,"tool_choice":"auto","truncation":"disabled"}}`)
	first(c, "session.updated")
}

// captions are the settings with which a client gets every event about its transcripts.
const captions = `"include":["item.input_audio_transcription.logprobs"],"audio":{"input":{"transcription":{"model":"any"}}}`

func (c *caller) utter(text string) {
	c.quiet(300)
	c.speak(scripted.Tones(text))
	c.quiet(700)
}

// speakAndInterrupt plays a spoken turn, its answer, and a second turn that interrupts the answer.
func speakAndInterrupt(c *caller) {
	c.settle(captions)
	c.utter("say 20 words") // the server keeps the audio of short items only
	first(c, "conversation.item.input_audio_transcription.completed")
	item := next[*wire.ResponseOutputItemAdded](c, "response.output_item.added").Item.ID
	c.quiet(3000)
	c.utter("stop it now please")
	first(c, "response.done")
	if c.pacer != nil {
		first(c, "conversation.item.truncated")
	}
	first(c, "response.done")
	if c.pacer != nil {
		first(c, "output_audio_buffer.stopped")
	}
	// A client that plays the audio itself truncates the item itself. Any client may truncate it once more.
	c.send(`{"type":"conversation.item.truncate","event_id":"cut","item_id":"` + item + `","content_index":0,"audio_end_ms":1000}`)
	first(c, "conversation.item.truncated")
	c.send(`{"type":"conversation.item.retrieve","item_id":"` + item + `"}`)
	kept := next[*wire.ConversationItemRetrieved](c, "conversation.item.retrieved").Item.Content[0]
	c.g.Expect(len(kept.Audio) > 0).To(gomega.Equal(c.pacer == nil), "over WebRTC audio does not go in events")
}

func bothSpeak(c *caller) {
	c.settle(captions)
	c.utter("two people")
	a := next[*wire.ConversationItemInputAudioTranscriptionSegment](c, "conversation.item.input_audio_transcription.segment")
	b := next[*wire.ConversationItemInputAudioTranscriptionSegment](c, "conversation.item.input_audio_transcription.segment")
	c.g.Expect([]string{a.Speaker, a.Text, b.Speaker, b.Text}).To(gomega.Equal([]string{"A", "two", "B", "people"}))
	first(c, "response.done")
}

func loseWords(c *caller) {
	c.settle(captions)
	c.utter("lost")
	first(c, "conversation.item.input_audio_transcription.failed")
}

// commitByHand sends audio in events, clears it, sends other audio, and commits that.
func commitByHand(c *caller) {
	c.settle(`"audio":{"input":{"turn_detection":null}}`)
	c.append(scripted.Tones("not this"))
	c.send(`{"type":"input_audio_buffer.clear","event_id":"clear"}`)
	first(c, "input_audio_buffer.cleared")
	c.send(`{"type":"input_audio_buffer.commit","event_id":"empty"}`)
	c.g.Expect(next[*wire.ErrorEvent](c, "error").Error.EventID).To(gomega.HaveValue(gomega.Equal("empty")))
	c.append(scripted.Tones("but this"))
	c.send(`{"type":"input_audio_buffer.commit","event_id":"commit"}`)
	user := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed").ItemID
	c.send(`{"type":"response.create","event_id":"answer"}`)
	first(c, "response.done")
	c.send(`{"type":"conversation.item.retrieve","item_id":"` + user + `"}`)
	kept := next[*wire.ConversationItemRetrieved](c, "conversation.item.retrieved").Item.Content[0]
	c.g.Expect(len(kept.Audio) > 0).To(gomega.Equal(c.pacer == nil), "over WebRTC audio does not go in events")
}

// moveItems creates items of every kind, in the middle and at the ends, and retrieves and deletes them.
func moveItems(c *caller) {
	const png = "data:image/png;base64,iVBORw0KGgo="
	c.send(`{"type":"conversation.item.create","event_id":"a","item":{"id":"one","type":"message","role":"user","content":[{"type":"input_text","text":"hi"},
		{"type":"input_image","image_url":"` + png + `","detail":"low"}]}}`)
	for id, item := range map[string]string{
		"two":   `"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]`,
		"three": `"type":"message","role":"system","content":[{"type":"input_text","text":"be kind"}]`,
		"four":  `"type":"function_call","call_id":"call_1","name":"clock","arguments":"{}"`,
		"five":  `"type":"function_call_output","call_id":"call_1","output":"noon"`,
		"six":   `"type":"message","role":"user","content":[{"type":"input_audio","transcript":"well"}]`,
		"seven": `"type":"message","role":"assistant","content":[{"type":"output_audio","transcript":"so"}]`,
	} {
		c.send(`{"type":"conversation.item.create","event_id":"` + id + `","previous_item_id":"one","item":{"id":"` + id + `",` + item + `}}`)
		added := next[*wire.ConversationItemAdded](c, "conversation.item.added")
		for added.Item.ID != id {
			added = next[*wire.ConversationItemAdded](c, "conversation.item.added")
		}
		c.g.Expect(added.PreviousItemID).To(gomega.HaveValue(gomega.Equal("one")))
		c.send(`{"type":"conversation.item.retrieve","event_id":"get","item_id":"` + id + `"}`)
		first(c, "conversation.item.retrieved")
	}
	c.send(`{"type":"conversation.item.delete","event_id":"del","item_id":"four"}`)
	c.g.Expect(next[*wire.ConversationItemDeleted](c, "conversation.item.deleted").ItemID).To(gomega.Equal("four"))
}

// callTool makes the model call a function, and sends the result.
func callTool(c *caller) {
	c.settle(`"tools":[{"type":"function","name":"clock","parameters":{"type":"object"}}]`)
	c.ask("what does the clock say")
	call := next[*wire.ResponseDone](c, "response.done").Response.Output[0]
	c.send(`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"` + call.CallID + `","output":"noon"}}`)
	c.send(`{"type":"response.create"}`)
	first(c, "response.done")
}

// runTools makes the model call a tool that the server runs, once with success and once without.
func runTools(c *caller) {
	c.ask("how is the wind")
	first(c, "response.mcp_call.completed")
	first(c, "response.done")
	c.ask("how is the tide")
	first(c, "response.mcp_call.failed")
	first(c, "response.done")
}

// runRemoteTools makes the model call tools of an MCP server: one that needs no approval, and one that does.
func runRemoteTools(c *caller) {
	c.settle(deskTools(`,"require_approval":{"never":{"read_only":true}}`))
	first(c, "mcp_list_tools.completed")
	c.ask("please look")
	first(c, "response.mcp_call.completed")
	first(c, "response.done")
	c.ask("please pay")
	id := next[*wire.ResponseDone](c, "response.done").Response.Output[1].ID
	c.send(`{"type":"conversation.item.create","item":{"type":"mcp_approval_response","approval_request_id":"` + id + `","approve":true,"reason":"cheap"}}`)
	first(c, "response.mcp_call.completed")
}

// writeText asks for a response with every field that it may have, in the conversation and out of band.
func writeText(c *caller) {
	for _, where := range []string{"auto", "none"} {
		c.send(`{"type":"response.create","event_id":"text","response":{"instructions":"Be brief.","output_modalities":["text"],
			"audio":{"output":{"format":{"type":"audio/pcm","rate":24000},"voice":"slt"}},
			"tools":[{"type":"function","name":"clock","parameters":{"type":"object"}}],"tool_choice":"none","parallel_tool_calls":true,
			"conversation":"` + where + `","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}],
			"max_output_tokens":50,"prompt":{"id":"pmpt_guide"},"metadata":{"topic":"` + where + `"}}}`)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(string(done.Metadata)).To(gomega.MatchJSON(`{"topic":"` + where + `"}`))
	}
}

// cancelAndClear ends a response in both ways that a client has.
func cancelAndClear(c *caller) {
	c.ask("say 60 words")
	id := next[*wire.ResponseCreated](c, "response.created").Response.ID
	first(c, "response.output_audio_transcript.delta")
	c.send(`{"type":"response.cancel","event_id":"cancel","response_id":"` + id + `"}`)
	first(c, "response.done")
	if c.pacer == nil {
		return // the client has the audio and plays it
	}
	c.ask("say 60 words")
	first(c, "output_audio_buffer.started")
	c.quiet(500)
	c.send(`{"type":"output_audio_buffer.clear","event_id":"quiet"}`)
	first(c, "output_audio_buffer.cleared")
	first(c, "conversation.item.truncated")
}

// sayNothing waits without speech until the idle time-out lets the server speak.
func sayNothing(c *caller) {
	c.settle(`"audio":{"input":{"turn_detection":{"type":"server_vad","idle_timeout_ms":5000}}}`)
	c.quiet(7000)
	first(c, "input_audio_buffer.timeout_triggered")
	first(c, "response.done")
}

// endBadly makes one response that fails and one that is incomplete.
func endBadly(c *caller) {
	c.ask("fail")
	c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("failed"))
	c.send(`{"type":"response.create","response":{"max_output_tokens":3,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"say 20 words"}]}]}}`)
	c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.StatusDetails.Reason).To(gomega.Equal("max_output_tokens"))
}

// narrowBand uses the telephone formats in both directions.
func narrowBand(c *caller) {
	for _, law := range []string{"audio/pcmu", "audio/pcma"} {
		c.settle(fmt.Sprintf(`"audio":{"input":{"format":{"type":%q},"turn_detection":null},"output":{"format":{"type":%q}}}`, law, law))
		quiet := make([]int16, 8000)
		audio := voice.AppendMuLaw(nil, quiet)
		if law == "audio/pcma" {
			audio = voice.AppendALaw(nil, quiet)
		}
		c.send(string(wire.AppendClient(nil, &wire.InputAudioBufferAppend{EventID: "append", Audio: audio})))
		c.send(`{"type":"input_audio_buffer.commit"}`)
		first(c, "input_audio_buffer.committed")
		c.ask("hello")
		first(c, "response.done")
	}
}

// understandEnd lets the recogniser's end of utterance end a turn.
func understandEnd(c *caller) {
	c.settle(`"audio":{"input":{"turn_detection":{"type":"semantic_vad","eagerness":"high","create_response":true,"interrupt_response":true}}}`)
	c.utter("hello there")
	first(c, "response.done")
}

// dictate runs a transcription session.
func dictate(c *caller) {
	c.send(`{"type":"session.update","session":{"type":"transcription","include":["item.input_audio_transcription.logprobs"]}}`)
	first(c, "session.updated")
	c.utter("hello")
	first(c, "conversation.item.input_audio_transcription.completed")
}
