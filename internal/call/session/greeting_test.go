package session

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// The agent of a telephone call speaks first, once the session is there.
func TestGreeting(t *testing.T) {
	for name, row := range map[string]struct{ words, said string }{
		"the operator's words": {"Hello, this is Krume.", "Hello, this is Krume."},
		"the model's words":    {"", "You said: "},
	} {
		story(t, name, func(t *testing.T) {
			c := newCallerWith(t, Config{Pipeline: plain(), Settings: wire.DefaultSession()})
			c.pacer = newPacer(c.s, nil)
			c.s.Greet(row.words) // before the session begins
			c.start()
			done := next[*wire.ResponseDone](c, "response.done").Response
			c.g.Expect(*done.Output[0].Content[0].Transcript).To(gomega.ContainSubstring(row.said))
			first(c, "output_audio_buffer.stopped")
			wait(5 * time.Second)
			c.g.Expect(c.count("response.created")).To(gomega.Equal(1))
		})
	}
	story(t, "a user who speaks before gets an answer in its place", func(t *testing.T) {
		c := newCallerWith(t, Config{Pipeline: plain(), Settings: wire.DefaultSession()})
		c.pacer = newPacer(c.s, nil)
		c.start()
		c.speak(make([]int16, 24*400))
		c.speak(scripted.Tones("hello there"))
		c.s.Greet("Hello, this is Krume.")
		c.speak(make([]int16, 24*900))
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(*done.Output[0].Content[0].Transcript).To(gomega.Equal("You said: hello there"))
	})
}
