package session

// The echo of the agent in the microphone signal does not begin a turn.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// overEcho sends pcm mixed with the echo of the agent: its own sound at -20 dB, delayed by later.
func (c *caller) overEcho(later time.Duration, pcm []int16) {
	const piece = 480
	back := make([]int16, piece)
	for ; len(pcm) >= piece; pcm = pcm[piece:] {
		mixed := append([]int16(nil), pcm[:piece]...)
		at := c.pacer.FarEndPosition() - voice.SamplesIn(later.Milliseconds(), room.OutputRate) - piece
		if c.pacer.ReadFarEnd(at, back) {
			for i := range mixed {
				mixed[i] += back[i] / 10
			}
		}
		c.speak(mixed)
	}
}

func TestTheAgentsEchoIsNotSpeech(t *testing.T) {
	speaking := func(t *testing.T) *caller {
		t.Helper()
		c := newCaller(t, plain())
		c.roundTrip.Store(int64(100 * time.Millisecond))
		c.pacer = newPacer(c.s, nil)
		c.start()
		c.ask("say 60 words")
		first(c, "output_audio_buffer.started")
		return c
	}
	for _, later := range []time.Duration{140, 220, 330} {
		story(t, (later * time.Millisecond).String(), func(t *testing.T) {
			c := speaking(t)
			c.overEcho(later*time.Millisecond, make([]int16, 24*10_000))
			c.g.Expect(c.count("input_audio_buffer.speech_started")).To(gomega.BeZero())
			c.g.Expect(c.pacer.repeated).To(gomega.BeEmpty(), "no audio was held")
		})
	}
	story(t, "the same sound too late for an echo is speech", func(t *testing.T) {
		c := speaking(t)
		c.overEcho(3*time.Second, make([]int16, 24*10_000))
		c.g.Expect(c.count("input_audio_buffer.speech_started")).NotTo(gomega.BeZero())
	})
	story(t, "speech over the echo is found", func(t *testing.T) {
		c := speaking(t)
		c.overEcho(220*time.Millisecond, make([]int16, 24*3000))
		c.overEcho(220*time.Millisecond, scripted.Tones("stop it now please"))
		c.overEcho(220*time.Millisecond, make([]int16, 24*1000))
		first(c, "input_audio_buffer.speech_started")
		first(c, "conversation.item.truncated")
	})
}
