package session

// The formats of audio in events (PCM, G.711), and the speed of speech.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// heard returns the text that the audio events of a response say, in this format, and their length in milliseconds.
func (c *caller) heard(response, kind string) (text string, ms int) {
	var audio []byte
	for _, e := range c.All() {
		if d, ok := e.(*wire.ResponseOutputAudioDelta); ok && d.ResponseID == response {
			audio = append(audio, d.Delta...)
		}
	}
	var in room.Decoder
	pcm, err := in.Decode(kind, audio)
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	pcm = append(pcm, in.Rest()...)
	words, err := scripted.Heard(pcm)
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	return words, len(pcm) / 24
}

func TestFormats(t *testing.T) {
	for _, kind := range []string{wire.FormatPCM, wire.FormatPCMU, wire.FormatPCMA} {
		story(t, "both ways: "+kind, func(t *testing.T) {
			c := byWebSocket(t, plain())
			c.settle(`"audio":{"input":{"format":{"type":"` + kind + `"},"transcription":{"model":"any"},"turn_detection":null},"output":{"format":{"type":"` + kind + `"}}}`)
			spoken, err := room.Encode(kind, scripted.Tones("hello there"))
			c.g.Expect(err).NotTo(gomega.HaveOccurred())
			for len(spoken) > 0 { // pieces of odd sizes that do not split a sample
				n := min(len(spoken), 962)
				c.send(string(wire.AppendClient(nil, &wire.InputAudioBufferAppend{Audio: spoken[:n]})))
				spoken = spoken[n:]
			}
			c.send(`{"type":"input_audio_buffer.commit"}`)
			c.send(`{"type":"response.create"}`)
			c.g.Expect(next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Transcript).
				To(gomega.Equal("hello there"))
			done := next[*wire.ResponseDone](c, "response.done").Response
			c.g.Expect(done.Audio.Format.Type).To(gomega.Equal(kind))
			text, ms := c.heard(done.ID, kind)
			c.g.Expect(text).To(gomega.Equal("You said: hello there"))
			c.g.Expect(ms).To(gomega.Equal(len(text)*60), "to the sample")
		})
	}

	story(t, "a response has a format of its own", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.send(`{"type":"response.create","response":{"audio":{"output":{"format":{"type":"audio/pcmu"}}}}}`)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Audio.Format).To(gomega.Equal(wire.Format{Type: wire.FormatPCMU, Rate: 8000}))
		text, _ := c.heard(done.ID, wire.FormatPCMU)
		c.g.Expect(text).To(gomega.Equal("You said: "))
	})

	// A server that was compared with this one handles a manual commit of 24 kHz audio as 16 kHz. 100 ms are 100 ms in any format.
	story(t, "a commit needs 100 ms in any format", func(t *testing.T) {
		for kind, bytes := range map[string]int{wire.FormatPCM: 4800, wire.FormatPCMU: 800, wire.FormatPCMA: 800} {
			c := byWebSocket(t, plain())
			c.settle(`"audio":{"input":{"format":{"type":"` + kind + `"},"turn_detection":null}}`)
			c.send(string(wire.AppendClient(nil, &wire.InputAudioBufferAppend{Audio: make([]byte, bytes-2)})))
			c.send(`{"type":"input_audio_buffer.commit"}`)
			c.g.Expect(next[*wire.ErrorEvent](c, "error").Error.Code).To(gomega.Equal("input_audio_buffer_commit_empty"), kind)
			c.send(`{"type":"input_audio_buffer.clear"}`)
			c.send(string(wire.AppendClient(nil, &wire.InputAudioBufferAppend{Audio: make([]byte, bytes)})))
			c.send(`{"type":"input_audio_buffer.commit"}`)
			first(c, "input_audio_buffer.committed")
		}
	})

	story(t, "over WebRTC the format applies to events; the track does not change", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.settle(`"audio":{"input":{"format":{"type":"audio/pcmu"},"turn_detection":null},"output":{"format":{"type":"audio/pcma"}}}`)
		law := voice.AppendMuLaw(nil, make([]int16, 8000))
		c.send(string(wire.AppendClient(nil, &wire.InputAudioBufferAppend{Audio: law})))
		c.send(`{"type":"input_audio_buffer.commit"}`)
		first(c, "input_audio_buffer.committed")
		c.ask("hello")
		first(c, "output_audio_buffer.stopped")
		c.g.Expect(c.count("response.output_audio.delta")).To(gomega.BeZero())
		c.g.Expect(c.pacer.words(c.g)).To(gomega.Equal("You said: hello"))
	})
}

func TestSpeed(t *testing.T) {
	story(t, "at half the speed the next response lasts twice as long", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.settle(`"audio":{"output":{"speed":0.5}}`)
		c.ask("hello")
		first(c, "response.done")
		ms, _ := c.audio()
		c.g.Expect(ms).To(gomega.Equal(len("You said: hello") * 120))
	})
}
