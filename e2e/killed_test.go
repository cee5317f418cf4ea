package e2e

// A server that is killed during a call and started again with the same data: the call goes on.

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/sdk"
)

// TestTheServerIsKilled: the process of the server is killed, and the same command is run again. The client goes on in the same session with its conversation.
func TestTheServerIsKilled(t *testing.T) {
	t.Parallel()
	for name, webSocket := range map[string]bool{"WebSocket": true, "WebRTC": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, flags := gomega.NewWithT(t), []string{"--pipeline", "scripted", "--data", filepath.Join(t.TempDir(), "data")}
			first, err := rig.Start("..", append(flags, "--listen", "127.0.0.1:0")...)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			t.Cleanup(first.Kill)
			c := call(t, callOptions{url: first.URL, webSocket: webSocket})
			session := c.Snapshot().SessionID
			c.Expect(c.SendText("my name is Ada")).To(gomega.Succeed())
			c.Eventually(func() string { return lastOf(c.Snapshot()) }, patience).Should(gomega.Equal("You said: my name is Ada"))
			c.Eventually(func() sdk.State { return c.Snapshot().State }, patience).Should(gomega.Equal(sdk.Listening))
			before := c.Snapshot().Transcript
			g.Eventually(first.Journalled, patience).Should(gomega.BeTrue())

			first.Kill()
			second, err := rig.Start("..", append(flags, "--listen", strings.TrimPrefix(first.URL, "http://"))...)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			t.Cleanup(second.Kill)
			c.comesBack()
			c.Expect(c.SendText("and now?")).To(gomega.Succeed())
			c.Eventually(func() string { return lastOf(c.Snapshot()) }, patience).Should(gomega.Equal("You said: and now?"))
			now := c.Snapshot()
			c.Expect(now.Err).NotTo(gomega.HaveOccurred())
			c.Expect(now.SessionID).To(gomega.Equal(session))
			c.Expect(now.Transcript).To(gomega.HaveLen(4))
			for i, e := range before {
				c.Expect(now.Transcript[i].Text).To(gomega.Equal(e.Text))
				c.Expect(now.Transcript[i].Note).To(gomega.BeEmpty())
			}
			c.Expect(c.count("session.created")).To(gomega.Equal(1))
		})
	}
}

// TestTheServerIsKilledDuringAnAnswer: the response that plays over WebRTC is cut where it was heard, and the agent answers again by itself.
func TestTheServerIsKilledDuringAnAnswer(t *testing.T) {
	t.Parallel()
	g, flags := gomega.NewWithT(t), []string{"--pipeline", "scripted", "--data", filepath.Join(t.TempDir(), "data")}
	first, err := rig.Start("..", append(flags, "--listen", "127.0.0.1:0")...)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(first.Kill)
	c := call(t, callOptions{url: first.URL})
	c.Expect(c.SendText("say 20 words")).To(gomega.Succeed())
	c.begin()
	c.hear(time.Second)
	g.Eventually(first.Journalled, patience).Should(gomega.BeTrue())
	first.Kill()
	second, err := rig.Start("..", append(flags, "--listen", strings.TrimPrefix(first.URL, "http://"))...)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(second.Kill)
	c.comesBack()
	c.Eventually(func() int { return len(c.Snapshot().Transcript) }, patience).Should(gomega.Equal(3))
	c.Eventually(func() string { return lastOf(c.Snapshot()) }, patience).Should(gomega.HaveSuffix("twenty."))
	c.Eventually(func() sdk.State { return c.Snapshot().State }, patience).Should(gomega.Equal(sdk.Listening))
	now := c.Snapshot()
	c.Expect(now.Err).NotTo(gomega.HaveOccurred())
	c.Expect(now.Transcript[1].Interrupted).To(gomega.BeTrue())
	c.Expect(now.Transcript[1].Text).NotTo(gomega.ContainSubstring("twenty"))
	c.Expect(now.Transcript[2].Interrupted).To(gomega.BeFalse())
	c.Expect(c.count("session.created")).To(gomega.Equal(1))
}
