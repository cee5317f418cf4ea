package session

// Items that a client creates with recorded audio: the server transcribes them.

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// recorded returns the members of the event that creates an item with its audio.
func recorded(id string, audio []byte, more string) string {
	return fmt.Sprintf(`"type":"conversation.item.create","item":{"id":%q,"type":"message","role":"user","content":[%s{"type":"input_audio","audio":%q}]}`,
		id, more, base64.StdEncoding.EncodeToString(audio))
}

// slowRecogniser is a recogniser whose Open takes three seconds.
type slowRecogniser struct{ pipeline.Transcriber }

// Open implements pipeline.Transcriber.
func (d slowRecogniser) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	wait(3 * time.Second)
	return d.Transcriber.Open(ctx, c)
}

func TestRecordedAudio(t *testing.T) {
	hello := voice.PCM16ToBytes(nil, scripted.Tones("hello"))

	story(t, "it is transcribed, and a response waits for the transcript", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.settle(`"audio":{"input":{"transcription":{"model":"any"},"turn_detection":null}}`)
		c.send("{" + recorded("clip", hello, `{"type":"input_text","text":"Listen:"},`) + "}")
		c.send(`{"type":"response.create"}`)
		added := next[*wire.ConversationItemAdded](c, "conversation.item.added").Item
		c.g.Expect(added.Content).To(gomega.HaveLen(2))
		c.g.Expect(added.Content[1].Transcript).To(gomega.BeNil())
		c.g.Expect(added.Content[1].Audio).To(gomega.BeEmpty(), "nobody needs it back")
		said := next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed")
		c.g.Expect([]any{said.ItemID, said.ContentIndex, said.Transcript}).To(gomega.Equal([]any{"clip", 1, "hello"}))
		c.g.Expect(said.Usage.Seconds).To(gomega.BeNumerically("~", float64(len(hello))/48_000, 0.001))
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(*done.Output[0].Content[0].Transcript).To(gomega.ContainSubstring("hello"))
		c.g.Expect(c.retrieve("clip").Content[1].Audio).To(gomega.Equal(hello))
	})

	story(t, "it is read in the format of the session", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.settle(`"audio":{"input":{"format":{"type":"audio/pcmu"},"transcription":{"model":"any"},"turn_detection":null}}`)
		down, err := voice.NewResampler(room.InputRate, room.LawRate)
		c.g.Expect(err).NotTo(gomega.HaveOccurred())
		narrow := append(down.AppendPCM16(nil, scripted.Tones("hello")), voice.FloatToPCM16(nil, down.Flush(nil))...)
		c.send("{" + recorded("clip", voice.AppendMuLaw(nil, narrow), "") + "}")
		c.g.Expect(next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Transcript).
			To(gomega.Equal("hello"))
	})

	story(t, "a response does not wait for an item that was deleted", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.send("{" + recorded("clip", hello, "") + "}")
		c.send(`{"type":"conversation.item.delete","item_id":"clip"}`)
		c.ask("say 2 words")
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
		c.g.Expect(c.s.input.Transcribing()).To(gomega.BeZero())
	})

	story(t, "a failed recognition is reported, and the response goes on without the words", func(t *testing.T) {
		p := plain()
		p.Transcriber = broken{}
		c := byWebSocket(t, p)
		c.send("{" + recorded("clip", hello, "") + "}")
		c.g.Expect(next[*wire.ErrorEvent](c, "error").Error.Code).To(gomega.Equal("transcription_failed"))
		c.ask("say 2 words")
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
	})

	story(t, "audio that cannot be transcribed is refused", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.wrong(recorded("a", hello[:3], ""), "invalid_value", "item.content[0].audio")
		c.wrong(recorded("b", nil, ""), "invalid_value", "item.content[0].audio")
		c.wrong(recorded("c", hello, `{"type":"input_audio","audio":"AAAA"},`), "invalid_value", "item.content[1].audio")
	})

	story(t, "the number of items transcribed at a time is limited", func(t *testing.T) {
		p := plain()
		p.Transcriber = slowRecogniser{p.Transcriber}
		c := byWebSocket(t, p)
		for i := range listening.MaxRecordings {
			c.send("{" + recorded(fmt.Sprint("clip", i), hello, "") + "}")
		}
		c.wrong(recorded("more", hello, ""), "too_many_transcriptions", "item")
		c.ask("say 2 words")
		first(c, "response.done")
		c.g.Expect(c.s.input.Transcribing()).To(gomega.BeZero())
	})
}
