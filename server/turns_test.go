package server_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// transcribed makes the session send transcripts.
const transcribed = `{"type":"session.update","event_id":"up","session":{"type":"realtime","audio":{"input":{"transcription":{"model":"any"}}}}}`

func TestVoiceTurn(t *testing.T) {
	g := gomega.NewWithT(t)
	c := dial(t)
	c.sendText([]byte(transcribed))
	first(c, "session.updated")
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
}

func TestInterruptionOverWebSocket(t *testing.T) {
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
}
