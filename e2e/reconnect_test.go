package e2e

// Networks and servers that fail during a call, and how the client continues it.

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/server"
)

// network is the network between one caller over WebRTC and the server. Its packets take one path at a time. After cut, only an ICE
// restart or another call gets a new path.
type network struct {
	t       *testing.T
	restart atomic.Bool // restarts get through
	calls   atomic.Bool // calls get through

	restarts, placed atomic.Int32 // how many requests for restarts and for calls the caller has made

	mu  sync.Mutex
	now *relay
}

var errNoNetwork = errors.New("there is no network")

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{t: t, now: newRelay(t)}
	n.restart.Store(true)
	n.calls.Store(true)
	return n
}

// cut ends the present path for good.
func (n *network) cut() { n.relay().Block(true) }

func (n *network) relay() *relay {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now
}

// RoundTrip implements http.RoundTripper. A request that gets through makes a new path.
func (n *network) RoundTrip(q *http.Request) (*http.Response, error) {
	restarts := strings.HasSuffix(q.URL.Path, "/restart")
	switch {
	case restarts:
		n.restarts.Add(1)
	case q.Method == http.MethodPost:
		n.placed.Add(1)
	}
	if restarts && !n.restart.Load() || !restarts && !n.calls.Load() {
		return nil, errNoNetwork
	}
	if n.relay().Blocked() {
		next := newRelay(n.t)
		n.mu.Lock()
		n.now = next
		n.mu.Unlock()
	}
	return n.relay().RoundTrip(q)
}

// comesBack waits until the caller has shown that the connection is lost, and then until it is back. The connection may be back before
// the test looks.
func (c *caller) comesBack() {
	c.Eventually(c.losses.Load, patience).Should(gomega.BeNumerically(">", c.returns))
	c.returns = c.losses.Load()
	c.Eventually(func() bool { return c.Snapshot().State.OnCall() }, patience).Should(gomega.BeTrue())
}

// TestNetworkChanges: during a response the caller's network fails and another one takes its place. The caller gets the whole response,
// in the same call.
func TestNetworkChanges(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(n *network){
		"it restarts its way":                   func(n *network) { n.cut() },
		"its restart is lost: it resumes":       func(n *network) { n.restart.Store(false); n.cut() },
		"nothing gets through: it keeps trying": func(n *network) { n.restart.Store(false); n.calls.Store(false); n.cut() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, nil, nil)
			n := newNetwork(t)
			c := call(t, callOptions{url: h.url, native: native.Options{Client: &http.Client{Transport: n}}})
			c.voiceTurn("before")
			session := c.Snapshot().SessionID
			c.ask("say 20 words")
			c.begin()
			c.hear(2 * time.Second)
			change(n)
			if !n.calls.Load() {
				c.Eventually(func() error { return c.Snapshot().Err }, patience).Should(gomega.MatchError(sdk.ErrServerGone))
				n.calls.Store(true)
			}
			c.comesBack()
			c.Expect(c.SendText("and after it")).To(gomega.Succeed())
			c.Eventually(func() string { return lastOf(c.Snapshot()) }, patience).Should(gomega.Equal("You said: and after it"))
			c.Expect(c.Snapshot().SessionID).To(gomega.Equal(session))
			c.Expect(c.Snapshot().Err).NotTo(gomega.HaveOccurred())
			c.Expect(c.count("session.created")).To(gomega.Equal(1))
			c.Expect(h.actions(t, "conn")).To(gomega.ContainElement("Restore"))
			_, total := h.server.Calls()
			c.Expect(total).To(gomega.Equal(uint64(1)))
		})
	}
}

// lastOf returns the text of the agent's last entry.
func lastOf(s sdk.Snapshot) string {
	for i := len(s.Transcript) - 1; i >= 0; i-- {
		if e := s.Transcript[i]; e.Role == sdk.Agent {
			return e.Text
		}
	}
	return ""
}

// hearsTwenty waits for the end of the response of twenty words, and expects that each word was heard.
func (c *caller) hearsTwenty(t *testing.T) {
	t.Helper()
	c.next("output_audio_buffer.stopped")
	c.Expect(c.speaker.AwaitSilence(t.Context(), 300*time.Millisecond)).To(gomega.Succeed())
	heard := strings.ToLower(c.heardText())
	for word := range strings.FieldsSeq(strings.NewReplacer(",", "", ".", "").Replace(strings.ToLower(twenty))) {
		c.Expect(heard).To(gomega.ContainSubstring(word))
	}
}

// TestResponseIsHeardWhole: the server sends the audio again that it sent while the connection was lost.
func TestResponseIsHeardWhole(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]bool{"restart": true, "resume": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, nil, nil)
			n := newNetwork(t)
			n.restart.Store(restart)
			c := call(t, callOptions{url: h.url, native: native.Options{Client: &http.Client{Transport: n}}})
			c.ask("say 20 words")
			c.begin()
			c.hear(2 * time.Second)
			n.cut()
			c.comesBack()
			c.hearsTwenty(t)
		})
	}
}

// TestShortGap: no packet passes for 1.2 s while the agent speaks, twice. The agent is heard whole, over the same connection. (Package sdk tests
// that the client does not even ask for a restart. Here a machine that is busy may make the gap longer.)
func TestShortGap(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	n := newNetwork(t)
	c := call(t, callOptions{url: h.url, native: native.Options{Client: &http.Client{Transport: n}}})
	c.ask("say 20 words")
	c.begin()
	for i := range 2 {
		c.hear(time.Duration(i+1) * time.Second)
		n.relay().Block(true)
		<-time.After(1200 * time.Millisecond)
		n.relay().Block(false)
	}
	c.hearsTwenty(t)
	c.Expect(n.placed.Load()).To(gomega.Equal(int32(1)), "calls")
	t.Logf("%d restarts", n.restarts.Load())
}

// TestConnectionIsTorn: the client replaces a broken WebSocket by another one. Meanwhile it plays the sound that it has.
func TestConnectionIsTorn(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	w, client := newWireTap(t)
	c := call(t, callOptions{url: h.url, webSocket: true, native: native.Options{Client: client}})
	c.voiceTurn("before")
	session := c.Snapshot().SessionID
	c.ask("say 20 words")
	c.begin()
	c.hear(time.Second)
	w.tear()
	c.comesBack()
	c.answer(twenty)
	c.voiceTurn("after")
	c.Expect(c.Snapshot().SessionID).To(gomega.Equal(session))
	c.Expect(c.count("session.created")).To(gomega.Equal(1))
}

// TestServerIsReplaced: another server takes the place of a failed one, and does not have the conversation. The client begins a new
// conversation with the words of the old one, and shows that.
func TestServerIsReplaced(t *testing.T) {
	t.Parallel()
	h, other := open(t, nil, func(c *server.Config) { c.Grace, c.Keep = time.Second, time.Second }), open(t, nil, nil)
	w, client := newWireTap(t)
	moved := &elsewhere{to: strings.TrimPrefix(other.url, "http://"), by: client.Transport}
	c := call(t, callOptions{url: h.url, webSocket: true, native: native.Options{Client: &http.Client{Transport: moved}}})
	c.Expect(c.SendText("my name is Ada")).To(gomega.Succeed())
	c.Eventually(func() string { return lastOf(c.Snapshot()) }, patience).Should(gomega.Equal("You said: my name is Ada"))
	moved.now.Store(true)
	w.tear()
	c.Eventually(func() error { return c.Snapshot().Err }, patience).Should(gomega.MatchError(sdk.ErrBegunAnew))
	now := c.Snapshot()
	c.Expect(now.Transcript).To(gomega.HaveLen(2))
	c.Expect(now.Transcript[1].Note).To(gomega.ContainSubstring("lost here"))
	c.Expect(c.SendText("and now?")).To(gomega.Succeed())
	c.Eventually(func() string { return lastOf(c.Snapshot()) }, patience).Should(gomega.Equal("You said: and now?"))
	c.Expect(strings.Join(other.record.All(), "")).To(gomega.ContainSubstring("my name is Ada"), "the other server knows the words")
	h.gone(c)
}

// elsewhere is a RoundTripper that sends requests to another server once it is switched.
type elsewhere struct {
	to  string
	now atomic.Bool
	by  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (e *elsewhere) RoundTrip(q *http.Request) (*http.Response, error) {
	if e.now.Load() {
		q = q.Clone(q.Context())
		q.URL.Host, q.Host = e.to, e.to
	}
	return e.by.RoundTrip(q)
}

// TestServerIsGone: the client shows within seconds that the server is gone, and ends the call after the limit.
func TestServerIsGone(t *testing.T) {
	t.Parallel()
	h := open(t, nil, func(c *server.Config) { c.Grace, c.Keep = time.Second, time.Second })
	n := newNetwork(t)
	c := call(t, callOptions{
		url: h.url, native: native.Options{Client: &http.Client{Transport: n}},
		sdk: sdk.Options{Limits: sdk.Limits{Lost: 8 * time.Second}},
	})
	n.restart.Store(false)
	n.calls.Store(false)
	n.cut()
	began := time.Now()
	c.Eventually(func() error { return c.Snapshot().Err }, patience).Should(gomega.MatchError(sdk.ErrServerGone))
	c.Expect(time.Since(began)).To(gomega.BeNumerically("<", 2*time.Minute), "not the time of three minutes' silence")
	c.Expect(c.Snapshot().State).To(gomega.Equal(sdk.Reconnecting))
	c.Expect(c.SendText("hello?")).To(gomega.Succeed())
	c.Eventually(func() sdk.State { return c.Snapshot().State }, patience).Should(gomega.Equal(sdk.Failed))
	last := c.Snapshot().Transcript[0]
	c.Expect(last.Note).To(gomega.ContainSubstring("not delivered"))
	h.gone(c)
}
