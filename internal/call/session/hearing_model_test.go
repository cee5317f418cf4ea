package session

// A model that hears gets the user's speech, over each transport.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// hearingLog is a requestLog of a model that hears.
type hearingLog struct{ *requestLog }

// HearsAudio implements pipeline.AudioModel.
func (hearingLog) HearsAudio() bool { return true }

func TestAModelThatHears(t *testing.T) {
	open := func(t *testing.T, by func(*testing.T, *pipeline.Pipeline) *caller) (*caller, *requestLog) {
		p, l := remembered(plain())
		p.Model = hearingLog{l}
		c := by(t, p)
		c.settle(commits)
		return c, l
	}
	hello := scripted.Tones("hello")

	for name, by := range map[string]func(*testing.T, *pipeline.Pipeline) *caller{"WebRTC": byWebRTC, "a WebSocket": byWebSocket} {
		story(t, "over "+name+" it hears the newest turn", func(t *testing.T) {
			c, l := open(t, by)
			c.turn(scripted.Tones("good morning"))
			c.answer()
			c.turn(hello)
			c.answer()
			messages := l.request().Messages
			c.g.Expect(messages).To(gomega.HaveLen(3))
			c.g.Expect(messages[0]).To(gomega.Equal(pipeline.Message{Role: "user", Text: "good morning"}))
			c.g.Expect(messages[2]).To(gomega.Equal(pipeline.Message{Role: "user", Text: "hello", Audio: &pipeline.Audio{PCM: hello}}))
			expectSessionWorks(c)
		})
	}

	story(t, "it hears a recording that a client gives, with or without a transcript", func(t *testing.T) {
		c, l := open(t, byWebSocket)
		c.send("{" + recorded("clip", voice.PCM16ToBytes(nil, hello), `{"type":"input_text","text":"Listen:"},`) + "}")
		first(c, "conversation.item.input_audio_transcription.completed")
		c.answer()
		want := pipeline.Message{Role: "user", Text: "Listen:\nhello", Audio: &pipeline.Audio{PCM: hello, Rest: "Listen:"}}
		c.g.Expect(l.request().Messages[0]).To(gomega.Equal(want))
		said := "hullo"
		c.send(string(wire.AppendClient(nil, &wire.ConversationItemCreate{Item: wire.Item{
			Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputAudio, Audio: voice.PCM16ToBytes(nil, hello[:4]), Transcript: &said}},
		}})))
		c.answer()
		messages := l.request().Messages
		c.g.Expect(messages[0].Audio).To(gomega.BeNil())
		c.g.Expect(messages[2]).To(gomega.Equal(pipeline.Message{Role: "user", Text: "hullo", Audio: &pipeline.Audio{PCM: hello[:4]}}))
		expectSessionWorks(c)
	})
}
