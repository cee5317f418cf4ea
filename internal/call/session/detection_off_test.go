package session

// Turn detection that is switched off while the user speaks: no word is lost, and the item keeps its id.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

const (
	detectionOff = `"audio":{"input":{"turn_detection":null}}`
	detectionOn  = `"audio":{"input":{"turn_detection":{"type":"server_vad","create_response":true,"interrupt_response":true}}}`
)

// offInMidSpeech lets the user say "hello", and switches the detection off after that.
func offInMidSpeech(c *caller) *wire.InputAudioBufferSpeechStarted {
	c.settle(`"audio":{"input":{"transcription":{"model":"any"}}}`)
	c.quiet(300)
	c.speak(scripted.Tones("hello"))
	started := next[*wire.InputAudioBufferSpeechStarted](c, "input_audio_buffer.speech_started")
	c.settle(detectionOff)
	c.g.Expect(next[*wire.InputAudioBufferSpeechStopped](c, "input_audio_buffer.speech_stopped").ItemID).To(gomega.Equal(started.ItemID))
	return started
}

// transcribed expects the transcript of an item.
func (c *caller) transcribed(item, words string) {
	c.t.Helper()
	e := next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed")
	c.g.Expect(e.ItemID).To(gomega.Equal(item))
	c.g.Expect(e.Transcript).To(gomega.Equal(words))
}

// byBoth tells a story over WebRTC and over a WebSocket.
func byBoth(t *testing.T, name string, tell func(c *caller)) {
	t.Helper()
	story(t, name+" (WebRTC)", func(t *testing.T) { tell(byWebRTC(t, plain())) })
	story(t, name+" (WebSocket)", func(t *testing.T) { tell(byWebSocket(t, plain())) })
}

func TestDetectionOffInMidSpeech(t *testing.T) {
	byBoth(t, "the client's commit makes the item that speech_started has named", func(c *caller) {
		started := offInMidSpeech(c)
		c.speak(scripted.Tones("there"))
		c.quiet(2000)
		c.send(`{"type":"input_audio_buffer.commit"}`)
		c.g.Expect(next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed").ItemID).To(gomega.Equal(started.ItemID))
		c.transcribed(started.ItemID, "hello there")
		c.append(scripted.Tones("again"))
		c.send(`{"type":"input_audio_buffer.commit"}`)
		c.g.Expect(next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed").ItemID).NotTo(gomega.Equal(started.ItemID))
	})
	byBoth(t, "on again: the same turn goes on, and has all words", func(c *caller) {
		started := offInMidSpeech(c)
		c.settle(detectionOn)
		again := next[*wire.InputAudioBufferSpeechStarted](c, "input_audio_buffer.speech_started")
		c.g.Expect(again.ItemID).To(gomega.Equal(started.ItemID))
		c.g.Expect(again.AudioStartMS).To(gomega.Equal(started.AudioStartMS))
		c.speak(scripted.Tones("there"))
		c.quiet(1000)
		c.g.Expect(next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed").ItemID).To(gomega.Equal(started.ItemID))
		c.transcribed(started.ItemID, "hello there")
	})
	byBoth(t, "on again, and the user says nothing more: the turn ends", func(c *caller) {
		started := offInMidSpeech(c)
		c.settle(detectionOn)
		c.quiet(1000)
		c.transcribed(started.ItemID, "hello")
		first(c, "response.done")
	})
	byBoth(t, "the client clears the buffer: the next item has another id", func(c *caller) {
		started := offInMidSpeech(c)
		c.send(`{"type":"input_audio_buffer.clear"}`)
		first(c, "input_audio_buffer.cleared")
		c.speak(scripted.Tones("there"))
		c.send(`{"type":"input_audio_buffer.commit"}`)
		c.g.Expect(next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed").ItemID).NotTo(gomega.Equal(started.ItemID))
	})
	byBoth(t, "on again while the agent speaks: the words belong to the next turn", func(c *caller) {
		started := offInMidSpeech(c)
		c.ask("say 40 words")
		c.quiet(4000)
		c.settle(detectionOn)
		c.quiet(1000)
		c.speak(scripted.Tones("stop it now please"))
		c.quiet(1000)
		c.g.Expect(next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed").ItemID).To(gomega.Equal(started.ItemID))
		c.transcribed(started.ItemID, "hello stop it now please")
	})
}
