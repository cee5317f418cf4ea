package session

// The time without speech after which the server speaks: it counts from the last that was said.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func TestTheIdleTimeCountsFromTheLastThatWasSaid(t *testing.T) {
	const idle = `"audio":{"input":{"turn_detection":{"type":"server_vad","idle_timeout_ms":5000}}}`
	speaksAfter := func(c *caller, last string) {
		first(c, last)
		began := time.Now()
		first(c, "input_audio_buffer.timeout_triggered")
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", 5*time.Second, 100*time.Millisecond))
		first(c, "response.done")
	}
	story(t, "a response in text", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.settle(`"output_modalities":["text"],` + idle)
		c.quiet(3000)
		c.ask("hello")
		speaksAfter(c, "response.done")
	})
	story(t, "a response that the client has cleared", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.settle(idle)
		c.quiet(3000)
		c.ask("say 60 words")
		first(c, "output_audio_buffer.started")
		c.quiet(500)
		c.send(`{"type":"output_audio_buffer.clear"}`)
		speaksAfter(c, "output_audio_buffer.cleared")
	})
}
