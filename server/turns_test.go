package server_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// transcribed makes the session send transcripts.
const transcribed = `"audio":{"input":{"transcription":{"model":"any"}}}`

func TestTurns(t *testing.T) {
	// Three ids for one turn were seen in the mapped system; here one goes from the onset to the transcript.
	story(t, "a voice turn is one item and gets one answer", func(t *testing.T) {
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

	story(t, "an interruption cancels the reply and is answered", func(t *testing.T) {
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
}
