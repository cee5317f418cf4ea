package session

// The times of words: who gets them, and which clock they are on.

import (
	"encoding/json"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

func TestTimesOfWords(t *testing.T) {
	setting := `{"type":"session.update","session":{"type":"realtime","audio":{"input":{"transcription":{"model":"scripted"}}}}}`
	story(t, "a client that asks gets the times of each turn on the clock of the session's audio", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.send(`{"type":"antiphon.hello","words":true}`)
		c.send(setting)
		for range 2 {
			c.say()
			started := next[*wire.InputAudioBufferSpeechStarted](c, "input_audio_buffer.speech_started")
			stopped := next[*wire.InputAudioBufferSpeechStopped](c, "input_audio_buffer.speech_stopped")
			e := next[*wire.AntiphonInputWords](c, "antiphon.input.words")
			var words []struct {
				Word  string
				Start int `json:"start_ms"`
				End   int `json:"end_ms"`
			}
			c.g.Expect(json.Unmarshal(e.Words, &words)).To(gomega.Succeed(), string(e.Words))
			c.g.Expect(words).To(gomega.HaveLen(1))
			w := words[0]
			c.g.Expect(e.ItemID).To(gomega.Equal(started.ItemID))
			c.g.Expect(w.Word).To(gomega.Equal("hello"))
			c.g.Expect(w.Start).To(gomega.BeNumerically(">=", started.AudioStartMS))
			c.g.Expect(w.End).To(gomega.And(gomega.BeNumerically(">", w.Start), gomega.BeNumerically("<=", stopped.AudioEndMS)))
			next[*wire.ResponseDone](c, "response.done")
			c.quiet(3000)
		}
	})
	story(t, "another client does not", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.send(`{"type":"antiphon.hello"}`)
		c.send(setting)
		c.say()
		next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed")
		c.g.Expect(c.count("antiphon.input.words")).To(gomega.BeZero())
	})
}
