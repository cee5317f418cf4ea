package session

// Sessions of type transcription.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// dictation begins a session of type transcription with these settings.
func dictation(t *testing.T, patch string) *caller {
	t.Helper()
	g := gomega.NewWithT(t)
	set := wire.DefaultSession()
	p := plain()
	g.Expect(conversation.Merge(p, nil, &set, wire.Raw(`{"type":"transcription"`+patch+`}`))).To(gomega.Succeed())
	return newCallerWith(t, Config{Pipeline: p, Settings: set}).start()
}

func TestTranscriptionSession(t *testing.T) {
	story(t, "it transcribes speech, and does not answer", func(t *testing.T) {
		c := dictation(t, "")
		c.quiet(300)
		c.speak(scripted.Tones("take a letter"))
		c.quiet(700)
		c.g.Expect(next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Transcript).
			To(gomega.Equal("take a letter"))
		c.quiet(6000)
		c.g.Expect(c.Names()).To(gomega.Equal([]string{
			"session.created", "conversation.created", "input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped",
			"input_audio_buffer.committed", "conversation.item.added", "conversation.item.done",
			"conversation.item.input_audio_transcription.completed",
		}))
		created := c.All()[0].(*wire.SessionCreated).Session
		c.g.Expect(created.Type).To(gomega.Equal("transcription"))
		c.g.Expect(created.Audio.Input.TurnDetection.CreateResponse).To(gomega.BeFalse())
	})

	story(t, "it refuses response.create and response.cancel", func(t *testing.T) {
		c := dictation(t, "")
		for text, want := range map[string][2]string{
			`{"type":"response.create","event_id":"e"}`:                                              {"transcription_session", "type"},
			`{"type":"response.create","event_id":"e","response":{"conversation":"none"}}`:           {"transcription_session", "type"},
			`{"type":"response.cancel","event_id":"e"}`:                                              {"response_cancel_not_active", ""},
			`{"type":"session.update","event_id":"e","session":{"type":"transcription","tools":[]}}`: {"invalid_value", "session.tools"},
		} {
			c.send(text)
			e := next[*wire.ErrorEvent](c, "error").Error
			c.g.Expect([]string{e.Code, deref(e.Param), deref(e.EventID)}).To(gomega.Equal([]string{want[0], want[1], "e"}), text)
		}
	})
}
