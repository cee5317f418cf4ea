package session

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// Calls over WebRTC, whose audio the server paces: playout, barge-in without prediction, the client's control, and lost connections.

func TestSpokenResponse(t *testing.T) {
	// "speaking" but silent, over at the end of the synthesis: components-js#1227, livekit/agents#3418, omnigentx/jarvis#73.
	story(t, "the agent speaks until the response was played to its end", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("say 12 words")
		started := next[*wire.OutputAudioBufferStarted](c, "output_audio_buffer.started")
		began := time.Now()
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", 2*time.Second), "it is generated faster than it is said")
		stopped := next[*wire.OutputAudioBufferStopped](c, "output_audio_buffer.stopped")
		text := *done.Output[0].Content[0].Transcript
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", time.Duration(len(text))*60*time.Millisecond, 100*time.Millisecond))
		c.g.Expect([]string{started.ResponseID, stopped.ResponseID}).To(gomega.HaveEach(done.ID))
		c.g.Expect(c.count("response.output_audio.delta")).To(gomega.BeZero(), "its audio goes another way")
		c.g.Expect(c.pacer.words(c.g)).To(gomega.Equal(text))
	})

	story(t, "generation runs ahead of playout only up to a limit", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("say 100 words")
		first(c, "output_audio_buffer.started")
		wait(3 * time.Second)
		c.pacer.mu.Lock()
		ahead := len(c.pacer.audio) - c.pacer.pos
		c.pacer.mu.Unlock()
		c.g.Expect(ahead).To(gomega.BeNumerically("~", speaking.LookAhead, room.OutputRate/2))
		first(c, "output_audio_buffer.stopped")
	})

	// N tool calls make N responses: each is played, one after another.
	story(t, "responses in a row are played in order, each to its end", func(t *testing.T) {
		c := byWebRTC(t, plain())
		for _, text := range []string{"alpha", "beta", "gamma"} {
			c.ask(text)
			first(c, "response.done")
		}
		for range 3 {
			first(c, "output_audio_buffer.stopped")
		}
		c.g.Expect(c.since("response.done")).To(gomega.HaveExactElements("output_audio_buffer.stopped", "output_audio_buffer.started",
			"output_audio_buffer.stopped", "output_audio_buffer.started", "output_audio_buffer.stopped"))
		c.g.Expect(c.pacer.words(c.g)).To(gomega.Equal("You said: alphaYou said: betaYou said: gamma"))
	})
}

func TestHeldResponse(t *testing.T) {
	// Every response after an interruption remembers words that were never heard: openai-agents-js#523,
	// openai-agents-python#2009, livekit/agents#2201, agent-squad#561.
	story(t, "an interruption cuts it at the played position", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("say 40 words")
		item := next[*wire.ResponseOutputItemAdded](c, "response.output_item.added").Item.ID
		first(c, "output_audio_buffer.started")
		c.quiet(4000)
		c.speak(scripted.Tones("stop it now please"))
		c.quiet(700)

		started := next[*wire.InputAudioBufferSpeechStarted](c, "input_audio_buffer.speech_started")
		truncated := next[*wire.ConversationItemTruncated](c, "conversation.item.truncated")
		committed := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed")
		c.g.Expect(committed.ItemID).To(gomega.Equal(started.ItemID))
		c.g.Expect(truncated.ItemID).To(gomega.Equal(item))
		c.g.Expect(truncated.AudioEndMS).To(gomega.Equal(c.pacer.cutMS()), "what went out and no more")
		c.g.Expect(truncated.AudioEndMS).To(gomega.BeNumerically("~", 4220, 60), "it went on softly until the sound was like a voice")
		c.g.Expect(c.since("input_audio_buffer.speech_started")[:12]).To(gomega.HaveExactElements(
			"output_audio_buffer.cleared", "response.output_audio.done", "response.output_audio_transcript.done",
			"response.content_part.done", "response.output_item.done", "conversation.item.done", "response.done",
			"conversation.item.truncated", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
			"conversation.item.added", "conversation.item.done"))

		c.send(`{"type":"conversation.item.retrieve","item_id":"` + item + `"}`)
		kept := next[*wire.ConversationItemRetrieved](c, "conversation.item.retrieved").Item
		text := *kept.Content[0].Transcript
		c.g.Expect(text).NotTo(gomega.BeEmpty())
		c.g.Expect(c.pacer.words(c.g)).To(gomega.HavePrefix(text))
		c.g.Expect(len(text)).To(gomega.BeNumerically("~", truncated.AudioEndMS/60, 12))
		c.g.Expect(kept.Status).To(gomega.Equal("incomplete"))
	})

	// A cough ends the response; the resume after a false interruption is broken: livekit/agents#1229, #4039.
	story(t, "a cough loses no audio of it", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("say 20 words")
		first(c, "output_audio_buffer.started")
		c.quiet(4000)
		began := time.Now()
		c.speak(scripted.Tones("a")[:24*150])
		c.quiet(700)
		done := next[*wire.ResponseDone](c, "response.done").Response
		first(c, "output_audio_buffer.stopped")
		c.pacer.expectWhole(c.g, *done.Output[0].Content[0].Transcript)
		c.g.Expect(c.Names()).NotTo(gomega.ContainElement(gomega.BeElementOf("input_audio_buffer.speech_started", "output_audio_buffer.cleared")))
		held := time.Since(began) - time.Duration(len(*done.Output[0].Content[0].Transcript)*60-4000)*time.Millisecond
		c.g.Expect(held).To(gomega.BeNumerically("~", 0, 20*time.Millisecond), "it went on softly meanwhile")
	})
}

// TestSpeechOverAResponse: the words of speech over a response decide whether it is cut, and so do events during the hold.
func TestSpeechOverAResponse(t *testing.T) {
	for _, row := range []struct {
		name, words string
		interrupts  bool
	}{
		{"acknowledgement words do not add up: livekit/agents#4270", "uh-huh yeah okay right", false},
		{"a filler is what a recogniser makes of noise", "the", false},
		{"two words that say something do", "what about", true},
		{"so does a command alone: bolna#223", "wait", true},
	} {
		story(t, "the words decide: "+row.name, func(t *testing.T) {
			c := byWebRTC(t, afterSound{words: row.words, after: 200 * time.Millisecond}.pipeline())
			c.ask("say 20 words")
			first(c, "output_audio_buffer.started")
			c.quiet(4000)
			c.speak(scripted.Tones("a")[:24*500])
			c.quiet(500)
			if row.interrupts {
				first(c, "output_audio_buffer.cleared")
				return
			}
			done := next[*wire.ResponseDone](c, "response.done").Response
			first(c, "output_audio_buffer.stopped")
			c.pacer.expectWhole(c.g, *done.Output[0].Content[0].Transcript)
			c.g.Expect(c.count("input_audio_buffer.speech_started")).To(gomega.BeZero())
		})
	}

	story(t, "a response that begins while the user speaks waits, and is cancelled by the turn", func(t *testing.T) {
		c := byWebRTC(t, byScript(t, `model: {first_token: 700ms}`))
		c.ask("say 20 words")
		c.quiet(300)
		c.speak(scripted.Tones("one more thing before you answer that"))
		c.quiet(700)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.StatusDetails.Reason).To(gomega.Equal("turn_detected"))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Transcript).
			To(gomega.HaveValue(gomega.Equal("You said: one more thing before you answer that")))
		first(c, "output_audio_buffer.stopped")
		c.g.Expect(c.pacer.words(c.g)).To(gomega.HavePrefix("You said: one more"), "nothing of the first was heard")
		c.g.Expect(c.count("output_audio_buffer.started")).To(gomega.Equal(1))
	})

	story(t, "interrupt_response is switched off during the hold: playout resumes", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("say 20 words")
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.quiet(4000)
		c.speak(scripted.Tones("stop it now please")[:24*200])
		c.settle(`"audio":{"input":{"turn_detection":{"interrupt_response":false}}}`)
		c.speak(scripted.Tones("stop it now please")[24*200:])
		c.quiet(700)
		first(c, "output_audio_buffer.stopped")
		c.pacer.expectWhole(c.g, *done.Output[0].Content[0].Transcript)
	})
}

func TestClientControlsOutput(t *testing.T) {
	story(t, "cancel, then clear: playout stops at once, and the item is cut there", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("say 60 words")
		first(c, "output_audio_buffer.started")
		wait(time.Second)
		c.send(`{"type":"response.cancel"}`)
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.StatusDetails.Reason).To(gomega.Equal("client_cancelled"))
		c.send(`{"type":"output_audio_buffer.clear"}`)
		first(c, "output_audio_buffer.cleared")
		truncated := next[*wire.ConversationItemTruncated](c, "conversation.item.truncated")
		c.g.Expect(truncated.AudioEndMS).To(gomega.Equal(c.pacer.sentMS()))
		wait(10 * time.Second)
		c.g.Expect(c.count("output_audio_buffer.stopped")).To(gomega.BeZero())
	})

	story(t, "cancel alone: the generated audio is played, and the item is cut after it", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("say 60 words")
		first(c, "output_audio_buffer.started")
		wait(time.Second)
		c.send(`{"type":"response.cancel"}`)
		first(c, "output_audio_buffer.stopped")
		truncated := next[*wire.ConversationItemTruncated](c, "conversation.item.truncated")
		c.g.Expect(truncated.AudioEndMS).To(gomega.Equal(c.pacer.sentMS()))
	})

	story(t, "clear without cancel: the text goes on without audio, and the response ends", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("say 200 words")
		first(c, "output_audio_buffer.started")
		wait(time.Second)
		c.send(`{"type":"output_audio_buffer.clear"}`)
		first(c, "output_audio_buffer.cleared")
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Status).To(gomega.Equal("completed"))
		c.g.Expect(c.pacer.sentMS()).To(gomega.BeNumerically("~", 1000, 100))
		c.send(`{"type":"conversation.item.retrieve","item_id":"` + done.Output[0].ID + `"}`)
		kept := next[*wire.ConversationItemRetrieved](c, "conversation.item.retrieved").Item
		c.g.Expect(strings.Fields(*kept.Content[0].Transcript)).To(gomega.HaveLen(3), "One two three: a second of it")
	})

	story(t, "clear also drops waiting responses", func(t *testing.T) {
		c := byWebRTC(t, plain())
		for _, text := range []string{"alpha", "beta", "gamma"} {
			c.ask(text)
			first(c, "response.done")
		}
		c.send(`{"type":"output_audio_buffer.clear"}`)
		for range 3 {
			first(c, "conversation.item.truncated")
		}
		wait(10 * time.Second)
		c.g.Expect(c.count("output_audio_buffer.started")).To(gomega.Equal(1))
		c.ask("delta")
		first(c, "output_audio_buffer.started")
		first(c, "output_audio_buffer.stopped")
	})
}

func TestTransport(t *testing.T) {
	story(t, "the connection is lost for a moment: the call goes on", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.s.Lost()
		wait(19 * time.Second)
		c.s.Restored()
		wait(time.Minute)
		c.ask("hello")
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
	})

	story(t, "the connection does not come back: the call ends after the grace period", func(t *testing.T) {
		c := byWebRTC(t, plain())
		began := time.Now()
		c.s.Lost()
		<-c.s.Done()
		c.g.Expect(time.Since(began)).To(gomega.Equal(20 * time.Second))
	})

	for name, err := range map[string]error{"it fails": errors.New("the wire is cut"), "the client hangs up": link.ErrHungUp} {
		story(t, name, func(t *testing.T) {
			c := byWebRTC(t, plain())
			c.ask("say 100 words")
			first(c, "output_audio_buffer.started")
			c.s.Failed(err)
			<-c.s.Done()
		})
	}

	story(t, "the client takes no events any more", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.mu.Lock()
		c.fails = link.ErrBackpressure
		c.mu.Unlock()
		c.ask("hello")
		<-c.s.Done()
	})

	// LocalAI#10407: an event over 256 KiB ends the send loop.
	story(t, "an event that is too large for the client is dropped alone", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.mu.Lock()
		c.fails = link.ErrTooLarge
		c.mu.Unlock()
		c.send(`{"type":"conversation.item.retrieve","item_id":"x"}`)
		wait(time.Second)
		c.mu.Lock()
		c.fails = nil
		c.mu.Unlock()
		c.ask("hello")
		first(c, "response.done")
	})
}

func TestTurnMetrics(t *testing.T) {
	story(t, "a client that asks gets the times of a turn", func(t *testing.T) {
		c := byWebRTC(t, byScript(t, `{transcriber: {delay: 100ms}, model: {first_token: 200ms}}`))
		c.send(`{"type":"antiphon.hello","metrics":true}`)
		c.quiet(300)
		c.speak(scripted.Tones("hello"))
		c.quiet(1000)
		committed := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed")
		m := next[*wire.AntiphonTurnMetrics](c, "antiphon.turn.metrics")
		c.g.Expect(m.ItemID).To(gomega.Equal(committed.ItemID))
		c.g.Expect(m.SpeechStoppedMS).To(gomega.BeZero())
		c.g.Expect(m.CommitMS).To(gomega.BeNumerically("~", 500, 60))
		c.g.Expect(m.TranscriptMS - m.CommitMS).To(gomega.BeNumerically("~", 100, 20))
		c.g.Expect(m.FirstTokenMS - m.TranscriptMS).To(gomega.BeNumerically("~", 200, 20))
		c.g.Expect(m.FirstAudioMS).To(gomega.BeNumerically(">=", m.FirstTokenMS))
		c.g.Expect(m.FirstPacketMS - m.FirstAudioMS).To(gomega.BeNumerically("<=", 40))
		c.g.Expect(m.PlaybackEndMS - m.FirstPacketMS).To(gomega.BeNumerically("~", 15*60, 100))
	})
}
