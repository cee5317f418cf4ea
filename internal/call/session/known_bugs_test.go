package session

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// Bugs of other systems, each with the thread that reports it. Tests in other files name their threads as well; search for the
// repository's name.
func TestKnownBugsOfInterruptions(t *testing.T) {
	// reachy_mini_conversation_app#376, vllm-project/vllm#32304: over WebRTC the output is not flushed when the user interrupts, and
	// the audio that was generated ahead is played to its end.
	story(t, "an interruption flushes what was generated ahead", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("say 60 words")
		first(c, "output_audio_buffer.started")
		c.quiet(3000) // seconds of it are generated ahead
		c.utter("stop it now please")
		first(c, "output_audio_buffer.cleared")
		first(c, "conversation.item.truncated")
		heard := c.pacer.cutMS()
		c.g.Expect(heard).To(gomega.BeNumerically("<", 4500), "the rest is not said")
		first(c, "output_audio_buffer.started") // this is the next answer: no audio of the old one comes between
		c.g.Expect(c.pacer.sentMS() - heard).To(gomega.BeNumerically("<", 200))
	})

	// factory-factory#2126: a stale generation plays after an interruption.
	overBoth(t, "no event of a generation comes after its interruption", func(c *caller) {
		c.ask("say 200 words")
		stale := next[*wire.ResponseCreated](c, "response.created").Response.ID
		first(c, "response.output_audio_transcript.delta")
		c.quiet(2000)
		c.utter("stop it now please")
		first(c, "response.created")
		ended := false
		for _, e := range c.All() {
			if done, is := e.(*wire.ResponseDone); is && done.Response.ID == stale {
				ended = true
			}
			if d, is := e.(*wire.ResponseOutputAudioTranscriptDelta); is && d.ResponseID == stale {
				c.g.Expect(ended).To(gomega.BeFalse())
			}
			if d, is := e.(*wire.ResponseOutputAudioDelta); is && d.ResponseID == stale {
				c.g.Expect(ended).To(gomega.BeFalse())
			}
		}
		c.g.Expect(ended).To(gomega.BeTrue())
		first(c, "response.done")
	})
}

// TestKnownBugsOfTruncation: bugs about how much of an answer was heard.
func TestKnownBugsOfTruncation(t *testing.T) {
	// openai-agents-js#523, openai-agents-python#2009, livekit/agents#2201, agent-squad#561: every response after an
	// interruption remembers words that were never heard. Over a WebSocket the client reports how much was heard.
	story(t, "the model gets only the heard words of the answer before", func(t *testing.T) {
		p, l := remembered(plain())
		c := byWebSocket(t, p)
		c.ask("say 20 words")
		item := next[*wire.ResponseDone](c, "response.done").Response.Output[0].ID
		c.send(`{"type":"conversation.item.truncate","item_id":"` + item + `","content_index":0,"audio_end_ms":900}`)
		first(c, "conversation.item.truncated")
		c.ask("and now")
		first(c, "response.done")
		messages := l.request().Messages
		c.g.Expect(messages[len(messages)-2].Text).To(gomega.Equal("One two three"))
	})

	// openai-agents-python#2370: a truncation beyond the sent audio. Audio that was generated during a hold was never sent.
	story(t, "an interrupted response is no longer than its sent audio", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `synthesizer: {speedup: 4}`))
		c.ask("say 60 words")
		c.quiet(500)
		c.utter("stop it now please")
		done := next[*wire.ResponseDone](c, "response.done").Response
		_, of := c.audio()
		cut := `"type":"conversation.item.truncate","item_id":"` + done.Output[0].ID + `","content_index":0,"audio_end_ms":`
		c.wrong(fmt.Sprint(cut, of[done.ID]+10), "invalid_value", "audio_end_ms")
		c.send(fmt.Sprint("{", cut, of[done.ID], "}"))
		c.g.Expect(next[*wire.ConversationItemTruncated](c, "conversation.item.truncated").AudioEndMS).To(gomega.Equal(of[done.ID]))
		first(c, "response.done")
	})
}

// TestKnownBugsOfTurns: bugs about turns.
func TestKnownBugsOfTurns(t *testing.T) {
	// A server that was compared with this one: speech_started without item_id, "TODO" as previous_item_id, three ids for one turn.
	overBoth(t, "a turn has one item id, and previous_item_id is a real id", func(c *caller) {
		c.settle(captions)
		c.ask("hello")
		before := next[*wire.ResponseDone](c, "response.done").Response.Output[0].ID
		if c.pacer != nil {
			first(c, "output_audio_buffer.stopped")
		}
		c.utter("what about this")
		id := next[*wire.InputAudioBufferSpeechStarted](c, "input_audio_buffer.speech_started").ItemID
		c.g.Expect(next[*wire.InputAudioBufferSpeechStopped](c, "input_audio_buffer.speech_stopped").ItemID).To(gomega.Equal(id))
		committed := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed")
		added := next[*wire.ConversationItemAdded](c, "conversation.item.added")
		done := next[*wire.ConversationItemDone](c, "conversation.item.done")
		c.g.Expect([]string{committed.ItemID, added.Item.ID, done.Item.ID}).To(gomega.HaveEach(id))
		c.g.Expect([]*string{committed.PreviousItemID, added.PreviousItemID, done.PreviousItemID}).
			To(gomega.HaveEach(gomega.HaveValue(gomega.Equal(before))))
		c.g.Expect(next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").ItemID).
			To(gomega.Equal(id))
	})

	// The same server: a manual commit of 24 kHz audio is handled as 16 kHz.
	overBoth(t, "a manual commit has the length of its audio, and is recognised", func(c *caller) {
		c.settle(`"audio":{"input":{"transcription":{"model":"any"},"turn_detection":null}}`)
		spoken := scripted.Tones("a manual commit")
		c.append(spoken)
		c.send(`{"type":"input_audio_buffer.commit"}`)
		completed := next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed")
		c.g.Expect(completed.Transcript).To(gomega.Equal("a manual commit"))
		c.g.Expect(completed.Usage.Seconds).To(gomega.BeNumerically("~", float64(len(spoken))/24000, 0.02))
	})
}

// TestKnownBugsOfResponses: bugs about responses and settings.
func TestKnownBugsOfResponses(t *testing.T) {
	// The same server: a failed response has no response.done, and output_item.done is missing on a cancel.
	overBoth(t, "a response that fails or is cancelled closes what it has opened", func(c *caller) {
		c.ask("fail")
		failed := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(failed.Status).To(gomega.Equal("failed"))
		c.g.Expect(failed.StatusDetails.Error.Code).To(gomega.Equal("model_failed"))
		c.ask("say 60 words")
		first(c, "response.content_part.added")
		c.send(`{"type":"response.cancel"}`)
		c.g.Expect(next[*wire.ResponseOutputItemDone](c, "response.output_item.done").Item.Status).To(gomega.Equal("incomplete"))
		cancelled := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect([]string{cancelled.Status, cancelled.StatusDetails.Reason}).To(gomega.Equal([]string{"cancelled", "client_cancelled"}))
	})

	// The page of the same server: N tool calls make N responses that supersede each other.
	overBoth(t, "several tool results with a response.create each make one answer", func(c *caller) {
		c.settle(`"tools":[{"type":"function","name":"clock","parameters":{"type":"object"}},{"type":"function","name":"tide","parameters":{"type":"object"}}]`)
		c.ask("clock and tide")
		calls := next[*wire.ResponseDone](c, "response.done").Response.Output
		c.g.Expect(calls).To(gomega.HaveLen(2))
		for i, call := range calls {
			c.send(fmt.Sprintf(`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":%q,"output":"result %d"}}`, call.CallID, i))
		}
		for i := range calls {
			c.send(fmt.Sprintf(`{"type":"response.create","event_id":"create_%d"}`, i))
		}
		answer := next[*wire.ResponseCreated](c, "response.created").Response.ID
		e := next[*wire.ErrorEvent](c, "error").Error
		c.g.Expect([]string{e.Code, deref(e.EventID)}).To(gomega.Equal([]string{"conversation_already_has_active_response", "create_1"}))
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect([]string{done.ID, done.Status}).To(gomega.Equal([]string{answer, "completed"}))
		c.g.Expect(done.Output[0].Content[0].Transcript).To(gomega.HaveValue(gomega.Equal("Tool said: result 0; result 1")))
	})

	// openai-realtime-console#35 and the same server: a partial turn_detection resets the other fields; a changed
	// silence_duration_ms is ignored.
	overBoth(t, "a partial turn_detection changes only its own fields, at once", func(c *caller) {
		c.settle(`"audio":{"input":{"turn_detection":{"threshold":0.4,"prefix_padding_ms":200,"silence_duration_ms":5000}}}`)
		c.settle(`"audio":{"input":{"turn_detection":{"silence_duration_ms":200}}}`)
		td := *c.session().Audio.Input.TurnDetection
		c.g.Expect([]any{td.Threshold, td.PrefixPaddingMS, td.SilenceDurationMS}).To(gomega.Equal([]any{0.4, 200, 200}))
		c.quiet(300)
		c.speak(scripted.Tones("hello"))
		spoke := time.Now()
		c.quiet(500)
		first(c, "input_audio_buffer.committed")
		c.g.Expect(time.Since(spoke)).To(gomega.BeNumerically("<=", 500*time.Millisecond))
	})
}
