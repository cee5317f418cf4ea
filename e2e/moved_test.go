package e2e

// A server that stops in order during a call and is started again with the same data: the call goes on.

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/sdk"
)

// TestTheServerIsRestarted: the server stops while the agent speaks, and has no time to wait for the end of the answer. The client hears the rest of the answer from the
// server that is started next.
func TestTheServerIsRestarted(t *testing.T) {
	t.Parallel()
	for name, webSocket := range map[string]bool{"WebSocket": true, "WebRTC": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, flags := gomega.NewWithT(t), []string{"--pipeline", "scripted", "--drain", "100ms", "--data", filepath.Join(t.TempDir(), "data")}
			first, err := rig.Start("..", append(flags, "--listen", "127.0.0.1:0")...)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			t.Cleanup(first.Kill)
			c := call(t, callOptions{url: first.URL, webSocket: webSocket})
			session := c.Snapshot().SessionID
			c.Expect(c.SendText("say 20 words")).To(gomega.Succeed())
			c.begin()
			c.hear(2 * time.Second)
			g.Eventually(first.Journalled, patience).Should(gomega.BeTrue())
			g.Expect(first.Stop()).To(gomega.Succeed())
			second, err := rig.Start("..", append(flags, "--listen", strings.TrimPrefix(first.URL, "http://"))...)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			t.Cleanup(second.Kill)
			c.comesBack()
			c.Eventually(func() string { return lastOf(c.Snapshot()) }, patience).Should(gomega.HaveSuffix("twenty."))
			c.Eventually(func() sdk.State { return c.Snapshot().State }, patience).Should(gomega.Equal(sdk.Listening))
			now := c.Snapshot()
			c.Expect(now.Err).NotTo(gomega.HaveOccurred())
			c.Expect(now.SessionID).To(gomega.Equal(session))
			c.Expect(c.count("session.created")).To(gomega.Equal(1))
			c.Expect(c.count("antiphon.session.moving")).To(gomega.Equal(1))
		})
	}
}
