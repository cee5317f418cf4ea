package session

// Speakers and log probabilities in transcripts.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestSpeakers(t *testing.T) {
	story(t, "segments with speakers come before the whole text", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `
transcriber:
  rules:
    - when: {exact: both of us}
      speakers: [{name: ann, text: good morning}, {name: ben, text: hi ann}, {name: ann, text: bye}]
`))
		c.settle(`"audio":{"input":{"transcription":{"model":"any"},"turn_detection":null}}`)
		c.append(scripted.Tones("both of us"))
		c.send(`{"type":"input_audio_buffer.commit"}`)
		item := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed").ItemID
		end := 0.0
		for _, want := range [][2]string{{"ann", "good morning"}, {"ben", "hi ann"}, {"ann", "bye"}} {
			s := next[*wire.ConversationItemInputAudioTranscriptionSegment](c, "conversation.item.input_audio_transcription.segment")
			c.g.Expect([]string{s.ItemID, s.Speaker, s.Text}).To(gomega.Equal([]string{item, want[0], want[1]}))
			c.g.Expect(s.SegmentID).To(gomega.HavePrefix("seg_"))
			c.g.Expect(s.Start).To(gomega.BeNumerically(">=", end))
			c.g.Expect(s.End).To(gomega.BeNumerically(">", s.Start))
			end = s.End
		}
		completed := next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed")
		c.g.Expect(completed.Transcript).To(gomega.Equal("good morning hi ann bye"))
		c.g.Expect(completed.Logprobs).To(gomega.BeNil())
	})
}

func TestLogprobs(t *testing.T) {
	story(t, "they come when the client asks for them and the recogniser has them", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `transcriber: {logprobs: true}`))
		say := func() wire.Raw {
			c.append(scripted.Tones("oh no"))
			c.send(`{"type":"input_audio_buffer.commit"}`)
			return next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Logprobs
		}
		c.settle(`"audio":{"input":{"transcription":{"model":"any"},"turn_detection":null}}`)
		c.g.Expect(say()).To(gomega.BeNil())
		c.send(change(`"include":["item.input_audio_transcription.logprobs"]`))
		c.g.Expect(next[*wire.SessionUpdated](c, "session.updated").Session.Include).To(gomega.HaveLen(1))
		c.g.Expect(string(say())).To(gomega.MatchJSON(
			`[{"token":"oh","logprob":-0.105361,"bytes":[111,104]},{"token":" no","logprob":-0.105361,"bytes":[32,110,111]}]`))
		c.refuses(change(`"include":["item.input_audio_transcription.logprobs","more"]`), "invalid_value", "session.include")
	})
}
