package e2e

// Short words over the agent, and a user who begins to speak at the same time as the agent.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// TestOneWordStopsTheAgent: "wait" and "stop" interrupt the agent, and are answered.
func TestOneWordStopsTheAgent(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"wait", "stop"} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			h := open(t, nil, nil)
			c := call(t, callOptions{url: h.url})
			c.interruption(word)
			c.Expect(h.actions(t, "playout")).To(gomega.ContainElement("Confirm"))
		})
	}
}

// TestBothBeginAtOnce: the user begins a second sentence in the moment in which the agent begins to answer the first one. The agent gives way, the server
// understands each word, and the user gets one answer.
func TestBothBeginAtOnce(t *testing.T) {
	t.Parallel()
	for name, moment := range map[string]string{
		"the user is first":  "input_audio_buffer.committed",
		"at the same time":   "response.created",
		"the agent is first": "output_audio_buffer.started",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, nil, nil)
			c := call(t, callOptions{url: h.url})
			c.say("say 60 words")
			c.next(moment)
			c.say("never mind, let us go on")
			_, _, ok := c.line.find(0, func(s seen) bool { return status(s) == "completed" })
			c.Expect(ok).To(gomega.BeTrue(), "the second sentence has no answer")
			for _, e := range c.line.since(c.read) {
				switch e := e.ServerEvent.(type) {
				case *wire.ResponseDone:
					if e.Response.Status == "cancelled" {
						c.Expect(nextOf[*wire.ResponseDone](c).Response.StatusDetails.Reason).To(gomega.Equal("turn_detected"))
					}
				case *wire.ConversationItemTruncated:
					c.heardBefore += time.Duration(e.AudioEndMS) * time.Millisecond
				}
			}
			c.Expect(c.heardBefore).To(gomega.BeNumerically("<", 10*time.Second), "the agent gave way; all words take 20 s")
			c.answer("You said: never mind, let us go on")
			c.Expect(c.transcripts(0)).To(gomega.Equal([]string{"say 60 words", "never mind, let us go on"}))
			c.Expect(c.count("response.done")).To(gomega.BeNumerically("<=", 2))
		})
	}
}

// status returns the status of a response that has ended; empty for another event.
func status(s seen) string {
	if done, is := s.ServerEvent.(*wire.ResponseDone); is {
		return done.Response.Status
	}
	return ""
}
