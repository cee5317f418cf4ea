package e2e

// Turns and their responses: cancelled ones, typed ones, silence, semantic turn detection and manual commits.

import (
	"slices"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestCancelAndClear: a client stops the agent. It first cancels the response and then clears the audio.
func TestCancelAndClear(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	c := call(t, callOptions{url: h.url})
	c.ask("say 60 words")
	c.begin()
	c.hear(time.Second)
	c.send(&wire.ResponseCancel{})
	done := nextOf[*wire.ResponseDone](c)
	c.Expect(done.Response.Status).To(gomega.Equal("cancelled"))
	c.Expect(done.Response.StatusDetails.Reason).To(gomega.Equal("client_cancelled"))
	c.Expect(done.Response.Output[0].Status).To(gomega.Equal("incomplete"))
	c.hear(c.heard() + 500*time.Millisecond) // the generated audio goes on until it is cleared
	c.send(&wire.OutputAudioBufferClear{})
	c.next("output_audio_buffer.cleared")
	cut := nextOf[*wire.ConversationItemTruncated](c)
	kept := *nextOf[*wire.ConversationItemRetrieved](c).Item.Content[0].Transcript
	c.Expect(transcript(done)).To(gomega.HavePrefix(kept + " "))

	c.send(&wire.ResponseCancel{EventID: "again"})
	c.Expect(nextOf[*wire.ErrorEvent](c).Error.Code).To(gomega.Equal("response_cancel_not_active"))
	c.heardBefore = time.Duration(cut.AudioEndMS) * time.Millisecond
	c.ask("still there")
	c.answer("You said: still there")
	c.Expect(c.heardText()).To(gomega.ContainSubstring(kept)) // the reading of the first packet may have a character of its own
}

// TestTextTurn: a typed message gets a spoken answer, or an answer in text where the client asked for text.
func TestTextTurn(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	c := call(t, callOptions{url: h.url})
	from := c.read
	c.Expect(c.SendText("typed")).To(gomega.Succeed())
	done := c.answer("You said: typed")
	c.Expect(done.Response.OutputModalities).To(gomega.Equal([]string{"audio"}))
	c.Expect(c.order(from)).To(gomega.Equal(append([]string{
		"conversation.item.added", "conversation.item.done",
		"response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added",
	}, endOrder...)))

	from = c.read
	c.send(&wire.ConversationItemCreate{Item: wire.Item{
		ID: "mine", Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: "quietly"}},
	}})
	c.send(&wire.ResponseCreate{Response: wire.ResponseParams{OutputModalities: []string{"text"}, Metadata: wire.Raw(`{"mark":"7"}`)}})
	added := nextOf[*wire.ConversationItemAdded](c)
	c.Expect(added.Item.ID).To(gomega.Equal("mine"))
	written := nextOf[*wire.ResponseDone](c)
	c.Expect(written.Response.OutputModalities).To(gomega.Equal([]string{"text"}))
	c.Expect([]byte(written.Response.Metadata)).To(gomega.MatchJSON(`{"mark":"7"}`))
	c.Expect(written.Response.Output[0].Content).To(gomega.Equal([]wire.Content{{Type: wire.ContentOutputText, Text: "You said: quietly"}}))
	c.Expect(c.order(from)).To(gomega.Equal([]string{
		"conversation.item.added", "conversation.item.done",
		"response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added",
		"response.output_text.done", "response.content_part.done", "response.output_item.done", "conversation.item.done", "response.done",
	}))
	c.Expect(c.heard()).To(gomega.BeZero())
}

// TestIdleTimeout: when the user is silent for idle_timeout_ms after the end of the playback, the agent speaks.
func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	c := call(t, callOptions{url: h.url})
	c.sendText([]byte(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad","idle_timeout_ms":5000}}}}}`))
	updated := nextOf[*wire.SessionUpdated](c)
	c.Expect(updated.Session.Audio.Input.TurnDetection.SilenceDurationMS).To(gomega.Equal(500), "what was not named stays")
	c.ask("say 12 words")
	c.begin()
	c.next("output_audio_buffer.stopped")
	from := c.read
	c.next("input_audio_buffer.timeout_triggered")
	idle := h.recorded(t, "input_audio_buffer.timeout_triggered").Sub(h.recorded(t, "output_audio_buffer.stopped"))
	c.Expect(idle).To(gomega.BeNumerically(">=", 4990*time.Millisecond), "by the server's clock; the session's tests have it to the millisecond")
	nextOf[*wire.ResponseDone](c)
	c.Expect(c.order(from)[:5]).To(gomega.Equal([]string{
		"input_audio_buffer.timeout_triggered", "input_audio_buffer.committed", "conversation.item.added", "conversation.item.done",
		"response.created",
	}))
}

// TestWordsEndTheTurn: with semantic_vad the server answers a complete sentence at once, and waits for the rest of an incomplete one.
func TestWordsEndTheTurn(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	c := call(t, callOptions{url: h.url, sdk: sdk.Options{TurnDetection: &sdk.TurnDetection{Semantic: true, Eagerness: "high"}}})
	// The server waits for 2.2 s for the rest of a sentence.
	said := c.mic.spoken() + length(tones("that is all"))
	c.say("that is all")
	c.Expect(c.nextSeen("input_audio_buffer.committed").spoken - said).To(gomega.BeNumerically("<", 2*time.Second))
	c.answer("You said: that is all")
	said = c.mic.spoken() + length(tones("that is not all,"))
	c.say("that is not all,")
	c.Expect(c.nextSeen("input_audio_buffer.committed").spoken - said).To(gomega.BeNumerically(">=", 1500*time.Millisecond))
	c.answer("You said: that is not all,")
}

// TestTurnByHand: without turn detection the client commits the turn and requests the response.
func TestTurnByHand(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	c := call(t, callOptions{url: h.url, sdk: sdk.Options{TurnDetection: &sdk.TurnDetection{Manual: true}}})
	from := c.read
	c.say("by hand")
	c.speak(make([]int16, native.Rate)) // silence commits nothing
	c.Expect(c.Commit()).To(gomega.Succeed())
	c.answer("You said: by hand")
	c.Expect(c.transcripts(0)).To(gomega.Equal([]string{"by hand"}))
	c.Expect(c.order(from)).To(gomega.Equal(slices.Concat(
		[]string{"input_audio_buffer.committed", "conversation.item.added", "conversation.item.done"}, beginOrder, endOrder)))

	c.say("never said")
	c.send(&wire.InputAudioBufferClear{})
	c.next("input_audio_buffer.cleared")
	c.say("said instead")
	c.speak(make([]int16, native.Rate/2))
	c.Expect(c.Commit()).To(gomega.Succeed())
	c.answer("You said: said instead")
}
