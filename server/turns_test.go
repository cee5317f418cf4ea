package server_test

// Spoken turns through the whole server: detection, commits, barge-in and silence.

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// transcribed makes the session send transcripts.
const transcribed = `"audio":{"input":{"transcription":{"model":"any"}}}`

func TestTurns(t *testing.T) {
	// Another server sent three ids for one turn. Here one id goes from the speech onset to the transcript.
	story(t, "a spoken turn is one item and gets one response", func(t *testing.T) {
		g := gomega.NewWithT(t)
		c := dial(t)
		c.settle(transcribed)
		c.say(quiet(400))
		c.say(scripted.Tones("hello there"))
		c.say(quiet(900))
		started := next[*wire.InputAudioBufferSpeechStarted](c, "input_audio_buffer.speech_started")
		stopped := next[*wire.InputAudioBufferSpeechStopped](c, "input_audio_buffer.speech_stopped")
		committed := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed")
		added := next[*wire.ConversationItemAdded](c, "conversation.item.added")
		completed := next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed")
		done := next[*wire.ResponseDone](c, "response.done")

		g.Expect([]string{stopped.ItemID, committed.ItemID, added.Item.ID, completed.ItemID}).To(gomega.HaveEach(started.ItemID))
		g.Expect(started.AudioStartMS).To(gomega.BeNumerically("~", 100, 60))
		g.Expect(completed.Transcript).To(gomega.Equal("hello there"))
		g.Expect(done.Response.Status).To(gomega.Equal("completed"))
		g.Expect(*done.Response.Output[0].Content[0].Transcript).To(gomega.Equal("You said: hello there"))
		g.Expect(done.Response.Usage.OutputTokens).To(gomega.BeNumerically(">", 0))
	})

	story(t, "captions come while the user speaks, and add up", func(t *testing.T) {
		c := dial(t)
		c.settle(transcribed)
		c.speak(quiet(300))
		c.speak(scripted.Tones("one two three four five"))
		c.speak(quiet(700))
		caption := ""
		completed := next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed")
		for _, e := range c.All() {
			if d, ok := e.(*wire.ConversationItemInputAudioTranscriptionDelta); ok {
				c.g.Expect(d.ItemID).To(gomega.Equal(completed.ItemID))
				caption += d.Delta
			}
		}
		c.g.Expect(caption).NotTo(gomega.BeEmpty())
		c.g.Expect(completed.Transcript).To(gomega.HavePrefix(caption))
		c.g.Expect(completed.Usage.Seconds).To(gomega.BeNumerically(">", 0.5))
	})

	// sglang-omni#1344: cancelling the turn during transcription loses the user's words.
	story(t, "two turns in quick succession are both transcribed", func(t *testing.T) {
		h := serve(t, byScript(t, "transcriber: {delay: 2s}"), nil)
		c := h.dial()
		c.settle(transcribed)
		for _, words := range []string{"first this", "then that"} {
			c.speak(quiet(300))
			c.speak(scripted.Tones(words))
			c.speak(quiet(700))
		}
		for _, words := range []string{"first this", "then that"} {
			c.g.Expect(next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Transcript).
				To(gomega.Equal(words))
		}
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Transcript).
			To(gomega.HaveValue(gomega.Equal("You said: then that")))
	})
}

// TestEndsOfTurns checks when a turn ends.
func TestEndsOfTurns(t *testing.T) {
	// livekit/agents#3373: the agent starts before the user has ended.
	story(t, "a pause that is shorter than asked does not end the turn", func(t *testing.T) {
		c := dial(t)
		c.settle(`"audio":{"input":{"transcription":{"model":"any"},"turn_detection":{"silence_duration_ms":1200}}}`)
		c.speak(quiet(300))
		c.speak(scripted.Tones("one"))
		c.speak(quiet(900))
		c.speak(scripted.Tones("two"))
		c.speak(quiet(1500))
		c.g.Expect(next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Transcript).
			To(gomega.Equal("one two"))
		first(c, "response.done")
		c.g.Expect(count(c, "input_audio_buffer.committed")).To(gomega.Equal(1))
	})

	story(t, "semantic_vad ends a turn with the sentence, and without one after a while", func(t *testing.T) {
		h := serve(t, byScript(t, "transcriber: {rules: [{when: {exact: and then}, boundary: none}]}"), nil)
		c := h.dial()
		c.settle(`"audio":{"input":{"turn_detection":{"type":"semantic_vad","eagerness":"high"}}}`)
		c.speak(quiet(300))
		c.speak(scripted.Tones("that is all"))
		c.speak(quiet(300))
		first(c, "response.done")

		wait(10 * time.Second) // until the response was played to its end
		c.speak(scripted.Tones("and then"))
		began := time.Now()
		c.speak(quiet(1500))
		c.g.Expect(count(c, "input_audio_buffer.committed")).To(gomega.Equal(1))
		c.speak(quiet(1500))
		first(c, "input_audio_buffer.committed")
		first(c, "response.done")
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically(">", 2*time.Second))
	})

	story(t, "without live transcription semantic_vad ends a turn by silence", func(t *testing.T) {
		h := serve(t, byScript(t, "transcriber: {offline: true}"), nil)
		c := h.dial()
		c.settle(`"audio":{"input":{"turn_detection":{"type":"semantic_vad"}}}`)
		for range 2 {
			c.speak(quiet(300))
			c.speak(scripted.Tones("that is all"))
			c.speak(quiet(800))
			c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
			wait(10 * time.Second)
		}
	})

	for _, padding := range []int{0, 100, 800} {
		story(t, fmt.Sprintf("prefix_padding_ms is %d: so much before the sound belongs to the turn", padding), func(t *testing.T) {
			c := dial(t)
			c.settle(fmt.Sprintf(`"audio":{"input":{"transcription":{"model":"any"},"turn_detection":{"prefix_padding_ms":%d}}}`, padding))
			spoken := scripted.Tones("hello")
			c.say(quiet(2000))
			c.say(spoken)
			c.say(quiet(700))
			c.g.Expect(next[*wire.InputAudioBufferSpeechStarted](c, "input_audio_buffer.speech_started").AudioStartMS).
				To(gomega.BeNumerically("~", 2000-padding, 60))
			seconds := next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Usage.Seconds
			c.g.Expect(seconds).To(gomega.BeNumerically("~", float64(padding+len(spoken)/24+500)/1000, 0.1), "and the silence that ends it")
		})
	}
}

// TestTurnsWithoutAnAnswer checks speech that gets no answer.
func TestTurnsWithoutAnAnswer(t *testing.T) {
	story(t, "create_response is off: a turn becomes an item and nothing else", func(t *testing.T) {
		c := dial(t)
		c.settle(`"audio":{"input":{"transcription":{"model":"any"},"turn_detection":{"create_response":false}}}`)
		c.say(quiet(300))
		c.say(scripted.Tones("hello"))
		c.say(quiet(700))
		first(c, "conversation.item.input_audio_transcription.completed")
		wait(time.Minute)
		c.g.Expect(count(c, "response.created")).To(gomega.BeZero())
		c.send(&wire.ResponseCreate{})
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Transcript).
			To(gomega.HaveValue(gomega.Equal("You said: hello")))
	})

	// LocalAI#11940: responses to empty transcripts.
	story(t, "a turn without words gets no answer", func(t *testing.T) {
		h := serve(t, byScript(t, `transcriber: {rules: [{when: {exact: noise}, text: ""}]}`), nil)
		c := h.dial()
		c.settle(transcribed)
		c.say(quiet(300))
		c.say(scripted.Tones("noise"))
		c.say(quiet(700))
		c.g.Expect(next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Transcript).
			To(gomega.BeEmpty())
		wait(time.Minute)
		c.g.Expect(count(c, "response.created")).To(gomega.BeZero())
		goesOn(c)
	})

	story(t, "steady noise and clicks are no speech", func(t *testing.T) {
		c := dial(t)
		noise := quiet(4000)
		for i := range noise {
			if i%9000 < 24 {
				noise[i] = 9000
			}
		}
		c.say(noise)
		wait(time.Minute)
		c.g.Expect(count(c, "input_audio_buffer.speech_started")).To(gomega.BeZero())
	})
}

func TestManualTurns(t *testing.T) {
	// Another server took manually committed 24 kHz audio for 16 kHz audio.
	story(t, "the client commits and asks for a response", func(t *testing.T) {
		c := dial(t)
		c.g.Expect(c.settle(`"audio":{"input":{"transcription":{"model":"any"},"turn_detection":null}}`).Session.Audio.Input.TurnDetection).To(gomega.BeNil())
		spoken := scripted.Tones("push to talk")
		c.say(spoken)
		wait(time.Minute)
		c.g.Expect(count(c, "input_audio_buffer.speech_started")).To(gomega.BeZero())
		c.send(&wire.InputAudioBufferCommit{})
		committed := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed")
		c.send(&wire.ResponseCreate{})
		completed := next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed")
		c.g.Expect(completed.ItemID).To(gomega.Equal(committed.ItemID))
		c.g.Expect(completed.Transcript).To(gomega.Equal("push to talk"))
		c.g.Expect(completed.Usage.Seconds).To(gomega.BeNumerically("~", float64(len(spoken))/24000, 0.01))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Transcript).
			To(gomega.HaveValue(gomega.Equal("You said: push to talk")))
	})

	story(t, "a cleared buffer is empty", func(t *testing.T) {
		c := dial(t)
		c.settle(`"audio":{"input":{"turn_detection":null}}`)
		c.say(scripted.Tones("never mind"))
		c.send(&wire.InputAudioBufferClear{})
		first(c, "input_audio_buffer.cleared")
		c.send(&wire.InputAudioBufferCommit{EventID: "empty"})
		refused(c, "input_audio_buffer_commit_empty", "empty")
		c.say(quiet(99))
		c.send(&wire.InputAudioBufferCommit{EventID: "short"})
		c.g.Expect(refused(c, "input_audio_buffer_commit_empty", "short").Message).To(gomega.ContainSubstring("99.00ms"))
		goesOn(c)
	})
}

// TestManualEndsOfTurns checks commits, clears and settings in the middle of a turn.
func TestManualEndsOfTurns(t *testing.T) {
	story(t, "a turn that is cleared stops and is forgotten", func(t *testing.T) {
		c := dial(t)
		c.speak(quiet(300))
		c.speak(scripted.Tones("never mind me")[:24*700])
		started := next[*wire.InputAudioBufferSpeechStarted](c, "input_audio_buffer.speech_started")
		c.send(&wire.InputAudioBufferClear{})
		c.g.Expect(next[*wire.InputAudioBufferSpeechStopped](c, "input_audio_buffer.speech_stopped").ItemID).To(gomega.Equal(started.ItemID))
		first(c, "input_audio_buffer.cleared")
		c.speak(quiet(1000))
		wait(time.Minute)
		c.g.Expect(count(c, "input_audio_buffer.committed")).To(gomega.BeZero())
		goesOn(c)
	})

	story(t, "speech after a commit in mid-sentence is a turn of its own", func(t *testing.T) {
		c := dial(t)
		c.settle(`"audio":{"input":{"transcription":{"model":"any"},"turn_detection":{"create_response":false}}}`)
		spoken := scripted.Tones("a sentence that is cut in two by an impatient client")
		c.speak(quiet(300))
		c.speak(spoken[:24*1000])
		c.send(&wire.InputAudioBufferCommit{})
		c.speak(spoken[24*1000:])
		c.speak(quiet(700))
		committed := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed")
		started := next[*wire.InputAudioBufferSpeechStarted](c, "input_audio_buffer.speech_started")
		c.g.Expect(started.ItemID).NotTo(gomega.Equal(committed.ItemID))
		c.g.Expect(next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed").ItemID).To(gomega.Equal(started.ItemID))
		c.g.Expect(started.AudioStartMS).To(gomega.BeNumerically("~", 1300, 60), "nothing of it is lost")
	})

	story(t, "turn_detection goes off in the middle of a turn", func(t *testing.T) {
		c := dial(t)
		c.speak(quiet(300))
		c.speak(scripted.Tones("never mind me")[:24*700])
		first(c, "input_audio_buffer.speech_started")
		c.settle(`"audio":{"input":{"turn_detection":null}}`)
		first(c, "input_audio_buffer.speech_stopped")
		c.speak(quiet(1000))
		c.g.Expect(count(c, "input_audio_buffer.committed")).To(gomega.BeZero())
		goesOn(c)
	})
}

func TestBargeIns(t *testing.T) {
	story(t, "a barge-in cancels the response and is answered", func(t *testing.T) {
		g := gomega.NewWithT(t)
		c := dial(t)
		c.ask("say 60 words")
		first(c, "response.output_audio.delta")
		c.say(quiet(300))
		c.say(scripted.Tones("stop it now"))
		c.say(quiet(900))
		started := next[*wire.InputAudioBufferSpeechStarted](c, "input_audio_buffer.speech_started")
		done := next[*wire.ResponseDone](c, "response.done")
		committed := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed")
		answer := next[*wire.ResponseDone](c, "response.done")

		g.Expect(committed.ItemID).To(gomega.Equal(started.ItemID))
		g.Expect(done.Response.Status).To(gomega.Equal("cancelled"))
		g.Expect(done.Response.StatusDetails.Reason).To(gomega.Equal("turn_detected"))
		g.Expect(*answer.Response.Output[0].Content[0].Transcript).To(gomega.Equal("You said: stop it now"))
	})

	// livekit/agents#1229: a cough kills the response; #6662: paused speech drops later turns.
	story(t, "a cough cancels nothing, and the next turn is transcribed", func(t *testing.T) {
		c := dial(t)
		c.ask("say 12 words")
		first(c, "response.output_audio.delta")
		wait(3500 * time.Millisecond) // the thresholds are raised at first
		c.speak(scripted.Tones("a")[:24*150])
		c.speak(quiet(600))
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Status).To(gomega.Equal("completed"))
		c.g.Expect(count(c, "input_audio_buffer.speech_started")).To(gomega.BeZero())
		wait(20 * time.Second)
		c.speak(scripted.Tones("hello"))
		c.speak(quiet(700))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Transcript).
			To(gomega.HaveValue(gomega.Equal("You said: hello")))
	})
}

// TestFalseBargeIns checks speech of the user after which the response plays on to its end.
func TestFalseBargeIns(t *testing.T) {
	story(t, "interrupt_response is off: the agent speaks on, and the turn is answered after it", func(t *testing.T) {
		c := dial(t)
		c.settle(`"audio":{"input":{"turn_detection":{"interrupt_response":false}}}`)
		c.ask("say 40 words")
		first(c, "response.output_audio.delta")
		c.speak(quiet(300))
		c.speak(scripted.Tones("stop"))
		c.speak(quiet(700))
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Status).To(gomega.Equal("completed"))
		first(c, "input_audio_buffer.committed")
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Transcript).
			To(gomega.HaveValue(gomega.Equal("You said: stop")))
	})

	// The speech had no words, so the barge-in was false: the response is made again, with all that its client asked for.
	story(t, "after a barge-in without words the response is made again", func(t *testing.T) {
		h := serve(t, byScript(t, `transcriber: {rules: [{when: {exact: hullabaloo}, text: ""}]}`), nil)
		c := h.dial()
		long := strings.Replace(hello, "hello", "say 60 words", 1)
		c.sendText(`{"type":"response.create","response":{"metadata":{"topic":"x"},"input":[` + long + `]}}`)
		once := next[*wire.ResponseCreated](c, "response.created").Response
		c.speak(quiet(300))
		c.speak(scripted.Tones("hullabaloo"))
		c.speak(quiet(700))
		taken := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(taken).To(gomega.And(gomega.HaveField("ID", once.ID), gomega.HaveField("Status", "cancelled")))
		again := next[*wire.ResponseCreated](c, "response.created").Response
		c.g.Expect(again.ID).NotTo(gomega.Equal(once.ID))
		c.g.Expect(string(again.Metadata)).To(gomega.MatchJSON(`{"topic":"x"}`))
		given := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(given.Status).To(gomega.Equal("completed"))
		c.g.Expect(given.Output[0].Content[0].Transcript).To(gomega.HaveValue(gomega.HavePrefix("One two three")))
	})
}

func TestSilence(t *testing.T) {
	story(t, "idle_timeout_ms passes: the agent asks", func(t *testing.T) {
		c := dial(t)
		c.settle(`"audio":{"input":{"turn_detection":{"idle_timeout_ms":6000}}}`)
		began := time.Now()
		c.speak(quiet(8000))
		timeout := next[*wire.InputAudioBufferTimeoutTriggered](c, "input_audio_buffer.timeout_triggered")
		committed := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed")
		c.g.Expect(committed.ItemID).To(gomega.Equal(timeout.ItemID))
		c.g.Expect(timeout.AudioEndMS).To(gomega.BeNumerically("~", 6000, 100))
		first(c, "response.done")
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", 9*time.Second))
	})

	// The time counts from the end of the playback, which a client over a WebSocket controls itself.
	story(t, "idle_timeout_ms counts from the end of the agent's audio", func(t *testing.T) {
		c := dial(t)
		c.settle(`"audio":{"input":{"turn_detection":{"idle_timeout_ms":6000}}}`)
		c.ask("say 40 words")
		first(c, "response.output_audio.delta")
		began := time.Now()
		first(c, "response.done")
		samples := 0
		for _, e := range c.All() {
			if d, ok := e.(*wire.ResponseOutputAudioDelta); ok {
				samples += len(d.Delta) / 2
			}
		}
		spoken := time.Duration(samples) * time.Second / 24000
		first(c, "input_audio_buffer.timeout_triggered")
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", spoken+6*time.Second, 200*time.Millisecond))
	})

	story(t, "idle_timeout_ms counts again after a failed response", func(t *testing.T) {
		c := dial(t)
		c.settle(`"audio":{"input":{"turn_detection":{"idle_timeout_ms":6000}}}`)
		wait(time.Second)
		c.ask("fail")
		first(c, "response.done")
		first(c, "input_audio_buffer.timeout_triggered")
	})
}

// count returns how many events of that type have come.
func count(c *client, name string) int {
	n := 0
	for _, e := range c.All() {
		if e.Type() == name {
			n++
		}
	}
	return n
}
