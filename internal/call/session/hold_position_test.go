package session

// The position at which a response is cut, on a busy machine.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestTheCutIsWhereTheAudioStopped: on a busy machine, time passes between the decision to hold a response and its other effects. The
// item is cut where the audio stopped all the same. Here the trace hook makes the time pass.
func TestTheCutIsWhereTheAudioStopped(t *testing.T) {
	slow := func(t *testing.T) *caller {
		t.Helper()
		c := newCaller(t, plain())
		c.pacer = newPacer(c.s, nil)
		c.s.cfg.Trace = func(_ string, st coord.Step) {
			if st.Machine == "playout" {
				wait(200 * time.Millisecond)
			}
		}
		return c.start()
	}
	for name, silence := range map[string]func(c *caller){
		"an interruption": func(c *caller) {
			c.speak(scripted.Tones("stop it now please"))
			c.quiet(700)
		},
		"a client's clear": func(c *caller) {
			c.send(`{"type":"response.cancel"}`)
			c.send(`{"type":"output_audio_buffer.clear"}`)
		},
	} {
		story(t, name, func(t *testing.T) {
			c := slow(t)
			c.ask("say 40 words")
			first(c, "output_audio_buffer.started")
			c.quiet(4000)
			silence(c)
			truncated := next[*wire.ConversationItemTruncated](c, "conversation.item.truncated")
			c.g.Expect(truncated.AudioEndMS).To(gomega.BeNumerically("~", c.pacer.cutMS(), 20))
		})
	}
}
