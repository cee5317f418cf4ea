package e2e

// A server that is killed or stopped during a call and started again with the same data: the call goes on.

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

// lasting is a server with data in a folder. The next server with the same data gets its calls.
type lasting struct {
	*rig.Program
	t     *testing.T
	flags []string
}

// startLasting starts a server with an empty folder for its data.
func startLasting(t *testing.T, flags ...string) *lasting {
	t.Helper()
	l := &lasting{t: t, flags: append(flags, "--pipeline", "scripted", "--data", filepath.Join(t.TempDir(), "data"))}
	address, err := rig.FreeAddress() // the next server has the same one
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	l.start(address)
	return l
}

func (l *lasting) start(listen string) {
	l.t.Helper()
	var err error
	l.Program, err = rig.Start("..", append(l.flags, "--listen", listen)...)
	gomega.NewWithT(l.t).Expect(err).NotTo(gomega.HaveOccurred())
	l.t.Cleanup(l.Program.Kill)
}

// journalled waits until the next server could go on with each call.
func (l *lasting) journalled() {
	gomega.NewWithT(l.t).Eventually(l.Program.Journalled, patience).Should(gomega.BeTrue())
}

// again starts the next server, where the former one was.
func (l *lasting) again() { l.start(strings.TrimPrefix(l.URL, "http://")) }

// TestTheServerIsKilled: the process of the server is killed, and the same command is run again. The client goes on in the same session with its conversation.
func TestTheServerIsKilled(t *testing.T) {
	t.Parallel()
	for name, webSocket := range map[string]bool{"WebSocket": true, "WebRTC": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startLasting(t)
			c := call(t, callOptions{url: server.URL, webSocket: webSocket})
			session := c.Snapshot().SessionID
			c.Expect(c.SendText("my name is Ada")).To(gomega.Succeed())
			c.Eventually(func() string { return lastOf(c.Snapshot()) }, patience).Should(gomega.Equal("You said: my name is Ada"))
			c.Eventually(func() sdk.State { return c.Snapshot().State }, patience).Should(gomega.Equal(sdk.Listening))
			before := c.Snapshot().Transcript
			server.journalled()

			server.Kill()
			server.again()
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
	server := startLasting(t)
	c := call(t, callOptions{url: server.URL})
	c.Expect(c.SendText("say 20 words")).To(gomega.Succeed())
	c.begin()
	c.hear(time.Second)
	server.journalled()
	server.Kill()
	server.again()
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

// TestTheServerIsRestarted: the server stops while the agent speaks, and has no time to wait for the end of the answer. The next server has the
// call, in the same session. Over WebRTC the agent answers again there; over a WebSocket the client has mostly received the whole answer before.
func TestTheServerIsRestarted(t *testing.T) {
	t.Parallel()
	for name, webSocket := range map[string]bool{"WebSocket": true, "WebRTC": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startLasting(t, "--drain", "100ms")
			c := call(t, callOptions{url: server.URL, webSocket: webSocket})
			session := c.Snapshot().SessionID
			c.Expect(c.SendText("say 20 words")).To(gomega.Succeed())
			c.begin()
			c.hear(2 * time.Second)
			server.journalled()
			c.Expect(server.Stop()).To(gomega.Succeed())
			server.again()
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

// TestACallOutlivesItsSession: a session may last for 10 s, and the call goes on in a fresh one of the same server with its conversation.
func TestACallOutlivesItsSession(t *testing.T) {
	t.Parallel()
	for name, webSocket := range map[string]bool{"WebSocket": true, "WebRTC": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startLasting(t, "--session-length", "10s")
			c := call(t, callOptions{url: server.URL, webSocket: webSocket})
			session := c.Snapshot().SessionID
			c.Expect(c.SendText("my name is Ada")).To(gomega.Succeed())
			c.Eventually(func() string { return lastOf(c.Snapshot()) }, patience).Should(gomega.Equal("You said: my name is Ada"))
			c.Eventually(func() string { return c.Snapshot().SessionID }, patience).ShouldNot(gomega.Equal(session))
			c.comesBack()
			c.Expect(c.SendText("and now?")).To(gomega.Succeed())
			c.Eventually(func() string { return lastOf(c.Snapshot()) }, patience).Should(gomega.Equal("You said: and now?"))
			now := c.Snapshot()
			c.Expect(now.Err).NotTo(gomega.HaveOccurred())
			c.Expect(now.Transcript).To(gomega.HaveLen(4))
			for _, e := range now.Transcript {
				c.Expect(e.Note).To(gomega.BeEmpty())
			}
			c.Expect(c.count("session.created")).To(gomega.Equal(1))
			c.Expect(c.count("error")).To(gomega.BeZero())
		})
	}
}

// TestTheServerIsKilledWhileARunWaits: a run of the call waits for an approval when the server is killed. The call hears of it again by itself, each message once.
func TestTheServerIsKilledWhileARunWaits(t *testing.T) {
	t.Parallel()
	books := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "Seat 7 is yours") }))
	t.Cleanup(books.Close)
	config := filepath.Join(t.TempDir(), "antiphon.yaml")
	gomega.NewWithT(t).Expect(os.WriteFile(config, []byte(`
session: {output_modalities: [text]}
tools:
  functions:
    - {name: book_trip, url: "`+books.URL+`", background: true, approval: required}
`), 0o600)).To(gomega.Succeed())
	server := startLasting(t, "--config", config)
	c := call(t, callOptions{url: server.URL})
	c.Expect(c.SendText("please book trip")).To(gomega.Succeed())
	status := func() string {
		if r := c.Snapshot().Runs; len(r) == 1 {
			return r[0].Status
		}
		return ""
	}
	c.Eventually(status, patience).Should(gomega.Equal("waiting_user"))
	c.Eventually(func() string { return lastOf(c.Snapshot()) }, patience).Should(gomega.ContainSubstring("needs the user"))
	c.Eventually(func() sdk.State { return c.Snapshot().State }, patience).Should(gomega.Equal(sdk.Listening))
	server.journalled()
	server.Kill()
	server.again()
	run := c.Snapshot().Runs[0]
	answer, err := http.Post(server.URL+"/v1/runs/"+run.ID+"/reply", "application/json", strings.NewReader(`{"interaction_id":"`+run.Question.ID+`","approve":true}`)) //nolint:noctx // the test waits
	c.Expect(err).NotTo(gomega.HaveOccurred())
	c.Expect(answer.Body.Close()).To(gomega.Succeed())
	c.Expect(answer.StatusCode).To(gomega.Equal(http.StatusOK))
	c.comesBack()
	c.Eventually(status, patience).Should(gomega.Equal("succeeded"))
	c.Eventually(func() string { return lastOf(c.Snapshot()) }, patience).Should(gomega.ContainSubstring("Seat 7 is yours"))
	heard := map[uint64]int{}
	for _, e := range c.line.since(0) {
		if told, is := e.ServerEvent.(*wire.AntiphonRunMessage); is {
			var m struct{ Seq uint64 }
			c.Expect(json.Unmarshal(told.Message, &m)).To(gomega.Succeed())
			heard[m.Seq]++
		}
	}
	for seq := range uint64(len(heard)) {
		c.Expect(heard).To(gomega.HaveKeyWithValue(seq+1, 1), "each message comes once, without a gap")
	}
}
