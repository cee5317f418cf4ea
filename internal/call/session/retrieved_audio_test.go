package session

// The audio of items that a client retrieves.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// retrieve asks for an item and returns it.
func (c *caller) retrieve(id string) wire.Item {
	c.t.Helper()
	c.send(`{"type":"conversation.item.retrieve","item_id":"` + id + `"}`)
	return next[*wire.ConversationItemRetrieved](c, "conversation.item.retrieved").Item
}

// commits are the settings of a client that commits its turns and gets transcripts.
const commits = `"audio":{"input":{"transcription":{"model":"any"},"turn_detection":null}}`

// turn commits audio, waits for the transcript, and returns the id of the item.
func (c *caller) turn(pcm []int16) (item string) {
	c.t.Helper()
	c.append(pcm)
	c.send(`{"type":"input_audio_buffer.commit"}`)
	item = next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed").ItemID
	first(c, "conversation.item.input_audio_transcription.completed")
	return item
}

// The item of a turn has the audio from speech_started to speech_stopped, to the millisecond.
func TestTheEventsOfATurnSayWhatItsItemHas(t *testing.T) {
	for name, end := range map[string]func(c *caller){
		"the silence ends it": func(c *caller) { c.append(make([]int16, room.InputRate)) },
		"the client's commit": func(c *caller) { c.send(`{"type":"input_audio_buffer.commit"}`) },
		"detection was off once": func(c *caller) {
			c.settle(detectionOff)
			c.settle(detectionOn)
			c.append(make([]int16, room.InputRate))
		},
	} {
		story(t, name, func(t *testing.T) {
			c := byWebSocket(t, plain())
			c.settle(`"audio":{"input":{"transcription":{"model":"any"}}}`)
			c.append(make([]int16, room.InputRate))
			c.append(scripted.Tones("hello"))
			start := next[*wire.InputAudioBufferSpeechStarted](c, "input_audio_buffer.speech_started")
			end(c)
			first(c, "conversation.item.input_audio_transcription.completed")
			var stop *wire.InputAudioBufferSpeechStopped
			for _, e := range c.All() {
				if stopped, is := e.(*wire.InputAudioBufferSpeechStopped); is {
					stop = stopped
				}
			}
			c.g.Expect(c.retrieve(start.ItemID).Content[0].Audio).To(gomega.HaveLen(48 * (stop.AudioEndMS - start.AudioStartMS)))
		})
	}
}

func TestRetrievedAudio(t *testing.T) {
	story(t, "both sides' audio comes with their items over a WebSocket", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.settle(commits)
		said := scripted.Tones("hello")
		user := c.turn(said)
		c.g.Expect(c.retrieve(user).Content[0].Audio).To(gomega.Equal(voice.PCM16ToBytes(nil, said)))
		c.send(`{"type":"response.create"}`)
		agent := next[*wire.ResponseDone](c, "response.done").Response.Output[0].ID
		heard, err := scripted.Heard(voice.BytesToPCM16(nil, c.retrieve(agent).Content[0].Audio))
		c.g.Expect(err).NotTo(gomega.HaveOccurred())
		c.g.Expect(heard).To(gomega.Equal("You said: hello"))
		c.send(`{"type":"conversation.item.truncate","item_id":"` + agent + `","content_index":0,"audio_end_ms":300}`)
		c.g.Expect(c.retrieve(agent).Content[0].Audio).To(gomega.HaveLen(300 * 48))
		for _, e := range c.All() {
			if added, ok := e.(*wire.ConversationItemAdded); ok {
				c.g.Expect(added.Item.Content).NotTo(gomega.ContainElement(gomega.HaveField("Audio", gomega.Not(gomega.BeEmpty()))))
			}
		}
	})

	story(t, "of a long conversation only the newest is kept", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.settle(commits)
		quiet := make([]int16, 12*room.InputRate)
		one, two, three := c.turn(quiet), c.turn(quiet), c.turn(quiet)
		c.g.Expect(c.retrieve(one).Content[0].Audio).To(gomega.BeEmpty())
		c.g.Expect(c.retrieve(two).Content[0].Audio).To(gomega.HaveLen(48 * 12_000))
		c.g.Expect(c.retrieve(three).Content[0].Audio).To(gomega.HaveLen(48 * 12_000))
		long := c.turn(make([]int16, 16*room.InputRate))
		c.g.Expect(c.retrieve(long).Content[0].Audio).To(gomega.BeEmpty())
		c.g.Expect(c.retrieve(two).Content[0].Audio).To(gomega.BeEmpty())
		c.g.Expect(c.retrieve(three).Content[0].Audio).NotTo(gomega.BeEmpty())
	})

	story(t, "a long response has its audio again after it was cut", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.ask("say 60 words")
		agent := next[*wire.ResponseDone](c, "response.done").Response.Output[0].ID
		c.g.Expect(c.retrieve(agent).Content[0].Audio).To(gomega.BeEmpty())
		c.send(`{"type":"conversation.item.truncate","item_id":"` + agent + `","content_index":0,"audio_end_ms":14000}`)
		c.g.Expect(c.retrieve(agent).Content[0].Audio).To(gomega.HaveLen(14_000 * 48))
	})

	story(t, "a response that is cut during generation stays cut", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `synthesizer: {speedup: 4}`))
		c.ask("say 40 words")
		agent := next[*wire.ResponseOutputItemAdded](c, "response.output_item.added").Item.ID
		wait(time.Second)
		cut := `"type":"conversation.item.truncate","item_id":"` + agent + `","content_index":0,"audio_end_ms":`
		c.send(`{` + cut + `900}`)
		first(c, "conversation.item.truncated")
		done := next[*wire.ConversationItemDone](c, "conversation.item.done").Item
		c.g.Expect(done.Status).To(gomega.Equal("incomplete"))
		c.g.Expect(done.Content[0].Transcript).To(gomega.HaveValue(gomega.Equal("One two three")))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output).To(gomega.Equal([]wire.Item{done}))
		c.g.Expect(c.retrieve(agent).Content[0].Audio).To(gomega.HaveLen(900 * 48))
		c.wrong(cut+"1000", "invalid_value", "audio_end_ms")
	})

	story(t, "over WebRTC items come without audio", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.settle(commits)
		c.g.Expect(c.retrieve(c.turn(scripted.Tones("hello"))).Content[0].Audio).To(gomega.BeEmpty())
	})
}
