package session

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Calls over a WebSocket, whose client plays the audio by itself: playback, long turns, manual commits, and clients that stop sending.

// audio returns how much audio has come, in milliseconds, in all and by response.
func (c *caller) audio() (ms int, of map[string]int) {
	of = map[string]int{}
	for _, e := range c.All() {
		if d, ok := e.(*wire.ResponseOutputAudioDelta); ok {
			ms += len(d.Delta) / 48
			of[d.ResponseID] += len(d.Delta) / 48
		}
	}
	return ms, of
}

func TestClientPlays(t *testing.T) {
	story(t, "audio comes as fast as it is made", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.ask("say 40 words")
		began := time.Now()
		first(c, "response.done")
		ms, _ := c.audio()
		c.g.Expect(ms).To(gomega.BeNumerically(">", 10_000))
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", 2*time.Second))
	})

	// The client has the audio and plays it in order. The server need not wait for the playback, and must not wait when the client has
	// emptied its player.
	story(t, "a response does not wait for the playback of the one before", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.ask("say 40 words")
		first(c, "response.done")
		c.ask("hello")
		began := time.Now()
		second := next[*wire.ResponseDone](c, "response.done").Response.ID
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", time.Second))
		_, of := c.audio()
		c.g.Expect(of[second]).To(gomega.Equal(len("You said: hello") * 60))
	})

	story(t, "the user interrupts while the client still plays, long after the server is done", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.ask("say 40 words")
		first(c, "response.done")
		c.quiet(4000)
		c.speak(scripted.Tones("stop it now please"))
		c.quiet(700)
		first(c, "input_audio_buffer.speech_started")
		first(c, "response.done")
		c.g.Expect(c.Names()).NotTo(gomega.ContainElement("output_audio_buffer.cleared"), "that is WebRTC's")
		c.g.Expect(c.Names()).NotTo(gomega.ContainElement("conversation.item.truncated"), "the client truncates: it knows what was heard")
	})

	story(t, "the server cuts a response of which no audio was sent", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `model: {first_token: 700ms}`))
		c.ask("say 20 words")
		c.quiet(300)
		c.speak(scripted.Tones("one more thing before you answer that"))
		c.quiet(700)
		held := next[*wire.ResponseDone](c, "response.done").Response
		truncated := next[*wire.ConversationItemTruncated](c, "conversation.item.truncated")
		c.g.Expect(truncated.ItemID).To(gomega.Equal(held.Output[0].ID))
		c.g.Expect(truncated.AudioEndMS).To(gomega.BeZero())
		first(c, "response.done")
		_, of := c.audio()
		c.g.Expect(of).NotTo(gomega.HaveKey(held.ID))
	})

	story(t, "the client truncates the item: the agent is silent then, and speech begins a turn at once", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.ask("say 40 words")
		item := next[*wire.ResponseOutputItemAdded](c, "response.output_item.added").Item.ID
		first(c, "response.done")
		wait(4 * time.Second)
		c.send(`{"type":"conversation.item.truncate","item_id":"` + item + `","content_index":0,"audio_end_ms":4000}`)
		first(c, "conversation.item.truncated")
		c.quiet(300)
		c.speak(scripted.Tones("a")[:24*150])
		first(c, "input_audio_buffer.speech_started")
		c.quiet(700)
		first(c, "input_audio_buffer.committed")
	})
}

func TestLongTurns(t *testing.T) {
	// The audio comes at once and is longer than a live stream keeps. All of it is recognised.
	story(t, "a client commits more than half a minute at once", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.settle(`"audio":{"input":{"transcription":{"model":"any"},"turn_detection":null}}`)
		spoken := scripted.Tones("a long message")
		words := 0
		for said := 0; said < 33*24000; said += len(spoken) {
			c.append(spoken)
			words += 3
		}
		c.send(`{"type":"input_audio_buffer.commit"}`)
		text := next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Transcript
		c.g.Expect(strings.Fields(text)).To(gomega.HaveLen(words))
	})

	// The stream opens later than the time for which audio is kept. The server recognises the whole turn instead.
	story(t, "a recogniser that opens late", func(t *testing.T) {
		p := afterSound{words: "all of it", after: time.Second}.pipeline()
		p.Transcriber = late{p.Transcriber, 70 * time.Second}
		c := byWebSocket(t, p)
		c.settle(`"audio":{"input":{"transcription":{"model":"any"},"turn_detection":{"silence_duration_ms":3000}}}`)
		c.quiet(300)
		spoken := scripted.Tones("a long message")
		for said := 0; said < 62*24000; said += len(spoken) {
			c.speak(spoken)
		}
		c.quiet(3500)
		c.g.Expect(next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Transcript).
			To(gomega.Equal("all of it"))
	})
}

// late is a recogniser whose live streams open late.
type late struct {
	pipeline.Transcriber
	by time.Duration
}

// Open implements pipeline.Transcriber.
func (l late) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	if c.Live {
		select {
		case <-time.After(l.by):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return l.Transcriber.Open(ctx, c)
}

// append sends audio in one event, as a WebSocket client does.
func (c *caller) append(pcm []int16) {
	for piece := range slices.Chunk(pcm, 2400) {
		c.send(string(wire.AppendClient(nil, &wire.InputAudioBufferAppend{Audio: voice.PCM16ToBytes(nil, piece)})))
	}
}

func TestWaitingForWords(t *testing.T) {
	commit := func(c *caller) {
		c.append(scripted.Tones("hello"))
		c.send(`{"type":"input_audio_buffer.commit"}`)
		c.send(`{"type":"response.create"}`)
		first(c, "response.created")
	}
	const manual = `"audio":{"input":{"transcription":{"model":"any"},"turn_detection":null}}`

	story(t, "a response waits for the transcript of its turn", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `transcriber: {delay: 3s}`))
		c.settle(manual)
		commit(c)
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Transcript).
			To(gomega.HaveValue(gomega.Equal("You said: hello")))
	})

	story(t, "it is cancelled meanwhile", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `transcriber: {delay: 3s}`))
		c.settle(manual)
		commit(c)
		c.send(`{"type":"response.cancel"}`)
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.StatusDetails.Reason).To(gomega.Equal("client_cancelled"))
		c.g.Expect(done.Output).To(gomega.BeEmpty())
		first(c, "conversation.item.input_audio_transcription.completed")
		expectSessionWorks(c)
	})

	story(t, "the item that it waits for is deleted", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `transcriber: {delay: 9s}`))
		c.settle(manual)
		c.ask("something else")
		first(c, "response.done")
		c.append(scripted.Tones("hello"))
		c.send(`{"type":"input_audio_buffer.commit"}`)
		item := next[*wire.InputAudioBufferCommitted](c, "input_audio_buffer.committed").ItemID
		c.send(`{"type":"response.create"}`)
		first(c, "response.created")
		c.send(`{"type":"conversation.item.delete","item_id":"` + item + `"}`)
		began := time.Now()
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Content[0].Transcript).
			To(gomega.HaveValue(gomega.Equal("You said: something else")))
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("<", 5*time.Second))
	})

	story(t, "the client hangs up meanwhile", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `transcriber: {delay: 3s}`))
		c.settle(manual)
		commit(c)
	})
}

func TestClientStopsSending(t *testing.T) {
	// A page stuck on "listening": components-js#1227. The detector counts time by audio, and no audio comes.
	story(t, "in mid-sentence: the turn ends all the same", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.quiet(300)
		c.speak(scripted.Tones("hello"))
		first(c, "input_audio_buffer.speech_started")
		began := time.Now()
		first(c, "input_audio_buffer.committed")
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", listening.AudioTimeout, 300*time.Millisecond))
		first(c, "response.done")
	})

	story(t, "between two sounds, for a moment: the turn goes on", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.settle(`"audio":{"input":{"transcription":{"model":"any"}}}`)
		c.quiet(300)
		c.speak(scripted.Tones("hello"))
		wait(4 * time.Second)
		c.speak(scripted.Tones("again"))
		c.quiet(700)
		c.g.Expect(next[*wire.ConversationItemInputAudioTranscriptionCompleted](c, "conversation.item.input_audio_transcription.completed").Transcript).
			To(gomega.Equal("hello again"))
	})

	story(t, "over the agent: playout resumes after a rejected candidate", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("say 20 words")
		first(c, "response.done")
		c.quiet(4000)
		c.speak(scripted.Tones("a")[:24*150])
		first(c, "output_audio_buffer.stopped")
		c.g.Expect(c.count("output_audio_buffer.cleared")).To(gomega.BeZero())
	})
}

func TestLongConversation(t *testing.T) {
	story(t, "the oldest items make room", func(t *testing.T) {
		c := byWebSocket(t, plain())
		var oldest string
		for i := range 1001 { // one more than the limit
			c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`)
			if added := next[*wire.ConversationItemAdded](c, "conversation.item.added"); i == 0 {
				oldest = added.Item.ID
			}
		}
		c.g.Expect(c.count("conversation.item.deleted")).To(gomega.Equal(1))
		c.send(`{"type":"conversation.item.retrieve","item_id":"` + oldest + `"}`)
		c.g.Expect(next[*wire.ErrorEvent](c, "error").Error.Code).To(gomega.Equal("item_retrieve_invalid_item_id"))
		expectSessionWorks(c)
	})
}
