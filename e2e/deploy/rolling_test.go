package deploy

// A rolling restart of three servers under live calls.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/sdk"
)

// What a caller does when a server is restarted.
const (
	idle = iota
	hears
	hearsToo
	speaks
	roles
)

// answer is what the agent says to the callers that hear it. sentence is what the other callers say: some seconds of speech.
const (
	answer   = "say 10 words"
	lastWord = "ten."
	sentence = "this is a long sentence that nobody on this call hears to its end"
)

// whole returns how many answers the agent has said to their end. An answer that was cut does not count. While the agent speaks, or the client
// reconnects, the client does not know yet whether an answer is cut: whole returns -1.
func (c *caller) whole() (n int) {
	now := c.Snapshot()
	if now.State != sdk.Listening {
		return -1
	}
	for _, e := range now.Transcript {
		if e.Role == sdk.Agent && !e.Interrupted && strings.HasSuffix(e.Text, lastWord) {
			n++
		}
	}
	return n
}

// begin makes the caller do what its role is, and returns a function that reports whether the server does its part of it.
func (c *caller) begin(role int) (begun func() bool) {
	kind := "response.created"
	switch role {
	case idle:
		return func() bool { return true }
	case speaks:
		kind = "input_audio_buffer.speech_started"
	}
	before := len(c.all(kind))
	if role == speaks {
		_, err := c.mic.Speak(scripted.Tones(sentence))
		c.Expect(err).NotTo(gomega.HaveOccurred())
	} else {
		c.Expect(c.SendText(answer)).To(gomega.Succeed())
	}
	return func() bool { return len(c.all(kind)) > before }
}

// isAnswered reports whether the agent has repeated a text, and sends it if it has not and waits for nothing. The end of speech that was under way may interrupt an answer.
func (c *caller) isAnswered(text string) bool {
	if c.says("You said: " + text) {
		return true
	}
	if c.Snapshot().State == sdk.Listening {
		c.Expect(c.SendText(text)).To(gomega.Or(gomega.Succeed(), gomega.MatchError(sdk.ErrNotConnected)))
	}
	return false
}

// All servers are restarted, one after the other, under twenty live calls over WebRTC and WebSockets: some hear an answer, in some the user speaks, and some are idle. A server that stops has not
// the time to wait for the ends of answers. No conversation is dropped, and each answer is said to its end, or again at another server.
func TestARollingRestartDropsNoCall(t *testing.T) {
	g := gomega.NewWithT(t)
	cluster := newThree(t, "--drain", "1s")
	var callers []*caller
	for i := range 20 {
		c := newCaller(t, cluster.url, i%3 == 2)
		callers = append(callers, c)
		c.Expect(c.SendText(fmt.Sprint("my name is caller ", i))).To(gomega.Succeed())
	}
	for i, c := range callers {
		c.hasSaid(fmt.Sprint("my name is caller ", i))
	}
	for restart := range cluster.servers {
		var begun []func() bool
		for i, c := range callers {
			begun = append(begun, c.begin(i%roles))
		}
		for i, c := range callers {
			c.Eventually(begun[i]).Should(gomega.BeTrue(), func() string { return c.story() })
		}
		cluster.journalled(g)
		g.Expect(cluster.servers[restart].Stop()).To(gomega.Succeed())
		cluster.start(g, restart)
		cluster.complete(g)
		for i, c := range callers {
			c.mic.Clear()
			if role := i % roles; role == hears || role == hearsToo {
				c.Eventually(c.whole).Should(gomega.Equal(restart+1), func() string { return c.story() })
			}
		}
		for i, c := range callers {
			c.isAnswered(fmt.Sprintf("caller %d after restart %d", i, restart))
		}
		for i, c := range callers {
			c.Eventually(c.isAnswered).WithArguments(fmt.Sprintf("caller %d after restart %d", i, restart)).Should(gomega.BeTrue(), func() string { return c.story() })
		}
	}
	moves, cuts, told := 0, 0, account{}
	for _, c := range callers {
		told.add(c.wentOn())
		c.Expect(c.all("antiphon.session.moving")).NotTo(gomega.BeEmpty(), "each server was restarted")
		moves += len(c.all("antiphon.session.moving"))
		for _, e := range c.Snapshot().Transcript {
			if e.Role == sdk.Agent && e.Interrupted && strings.HasPrefix(strings.ToLower(e.Text), "one") {
				cuts++
			}
		}
	}
	t.Logf("%d calls moved %d times; %d answers were cut and said again; %v", len(callers), moves, cuts, told)
}
