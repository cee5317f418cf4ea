package ws

// The WebSocket of a call's client: events, errors and close codes.

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/env"
)

// patience bounds every wait. Only a failing test reaches it.
const patience = 20 * time.Second

// received is what a Receiver got.
type received struct {
	messages chan string
	refused  chan string // codes
	gone     chan error
}

// pair is a link and its client, connected over the loopback device.
type pair struct {
	link   *Link
	client *websocket.Conn
	got    received
	// awaited has the channels that the receiver of a large message waits for; nil where it does not wait.
	awaited chan chan struct{}
}

// handled is the AwaitHandled of the link's receiver.
func (p *pair) handled(stop <-chan struct{}) {
	if p.awaited == nil {
		return
	}
	done := make(chan struct{})
	p.awaited <- done
	select {
	case <-done:
	case <-stop:
	}
}

// connect connects a client to a link, which has not begun yet.
func connect(t *testing.T) *pair {
	t.Helper()
	return connectBy(t, &http.Transport{DisableKeepAlives: true}, env.System())
}

// connectBy is connect for a client with that transport, and a link with that clock.
func connectBy(t *testing.T, transport *http.Transport, e env.Env) *pair {
	t.Helper()
	g := gomega.NewWithT(t)
	p := &pair{
		link: NewLink(Limits{Env: e, EventsPerSecond: 500, MaxMessage: 1000}),
		got:  received{make(chan string, 10), make(chan string, 10), make(chan error, 10)},
	}
	opened := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := Accept(w, r, "test", p.link.limits)
		if err != nil {
			t.Error(err)
			return
		}
		p.link.Open(context.WithoutCancel(r.Context()), c, Receiver{
			Tab:          new(link.EventTab),
			Message:      func(data []byte, _ bool) { p.got.messages <- string(data) },
			AwaitHandled: p.handled,
			Refuse:       func(code, _ string) { p.got.refused <- code },
			Gone:         func(err error) { p.got.gone <- err },
		})
		close(opened)
		<-p.link.Gone()
	}))
	t.Cleanup(server.Close)
	client, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), &websocket.DialOptions{ //nolint:bodyclose // Dial has read it
		Subprotocols: []string{"test"}, HTTPClient: &http.Client{Transport: transport},
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = client.CloseNow() }) // the test may have closed it
	p.client = client
	<-opened
	return p
}

func event(text string) link.Event { return link.Event{Text: []byte(text)} }

// TestEventsAndMessages checks that events go out in order and count as sent, and that messages come in unless they are too large.
func TestEventsAndMessages(t *testing.T) {
	g := gomega.NewWithT(t)
	p := connect(t)
	sent := make(chan struct{})
	g.Expect(p.link.Send(event("before Begin"), nil)).To(gomega.Succeed())
	g.Expect(p.link.Send(event("second"), func() { close(sent) })).To(gomega.Succeed())
	p.link.Begin()
	for _, want := range []string{"before Begin", "second"} {
		_, text, err := p.client.Read(t.Context())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(string(text)).To(gomega.Equal(want))
	}
	g.Eventually(sent, patience).Should(gomega.BeClosed())

	for _, text := range []string{"hello", strings.Repeat("x", 1001), strings.Repeat("y", 1000)} {
		g.Expect(p.client.Write(t.Context(), websocket.MessageText, []byte(text))).To(gomega.Succeed())
	}
	g.Eventually(p.got.messages, patience).Should(gomega.Receive(gomega.Equal("hello")))
	g.Eventually(p.got.messages, patience).Should(gomega.Receive(gomega.HavePrefix("yyy")), "the call goes on")
	g.Expect(p.got.refused).To(gomega.Receive(gomega.Equal("message_too_large")))

	g.Expect(p.client.Close(websocket.StatusNormalClosure, "")).To(gomega.Succeed())
	g.Eventually(p.got.gone, patience).Should(gomega.Receive(gomega.MatchError(link.ErrHungUp)))
	_ = p.link.Close() // the client has closed already
	g.Expect(p.link.Send(event("late"), nil)).To(gomega.MatchError(link.ErrClosed))
}

// held is a clock whose timers wait for the test.
type held struct {
	env.Env
	due chan func()
}

// AfterFunc implements env.Env.
func (h held) AfterFunc(d time.Duration, f func()) env.Timer {
	if d != settle {
		return h.Env.AfterFunc(d, f)
	}
	h.due <- f
	return time.AfterFunc(time.Hour, func() {})
}

// TestTheFirstEventWaitsForTheClientToListen: it does not come together with the answer to the handshake.
func TestTheFirstEventWaitsForTheClientToListen(t *testing.T) {
	g := gomega.NewWithT(t)
	clock := held{env.System(), make(chan func(), 1)}
	p := connectBy(t, &http.Transport{DisableKeepAlives: true}, clock)
	sent := make(chan struct{})
	g.Expect(p.link.Send(event("first"), func() { close(sent) })).To(gomega.Succeed())
	p.link.Begin()
	var begin func()
	g.Eventually(clock.due, patience).Should(gomega.Receive(&begin))
	g.Expect(p.link.waits()).To(gomega.Equal(1))
	begin()
	_, text, err := p.client.Read(t.Context())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(text)).To(gomega.Equal("first"))
	<-sent
	_ = p.link.Close() // nothing waits
}

// waits returns how many events wait to be written.
func (l *Link) waits() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}

// TestABrokenConnectionIsUnreachable checks that a client without a close frame counts as one that may come back.
func TestABrokenConnectionIsUnreachable(t *testing.T) {
	g := gomega.NewWithT(t)
	p := connect(t)
	p.link.Begin()
	g.Expect(p.client.CloseNow()).To(gomega.Succeed())
	g.Eventually(p.got.gone, patience).Should(gomega.Receive(gomega.MatchError(link.ErrUnreachable)))
	p.link.Abandon()
	g.Expect(p.link.Gone()).To(gomega.BeClosed())
}

// TestAbandonReturnsUnwrittenEvents checks that the sent functions of unwritten events are given back and not called.
func TestAbandonReturnsUnwrittenEvents(t *testing.T) {
	g := gomega.NewWithT(t)
	p := connect(t)
	called := 0
	for range 3 {
		g.Expect(p.link.Send(event("never written"), func() { called++ })).To(gomega.Succeed())
	}
	g.Expect(p.link.Send(event("nobody waits for it"), nil)).To(gomega.Succeed())
	unsent := p.link.Abandon()
	g.Expect(unsent).To(gomega.HaveLen(3))
	g.Expect(called).To(gomega.BeZero())
	p.link.Begin() // does nothing any more
	g.Expect(p.link.Gone()).To(gomega.BeClosed())
}

// TestCloseGivesAReason checks that Close writes what waits and tells the client why the connection ends.
func TestCloseGivesAReason(t *testing.T) {
	g := gomega.NewWithT(t)
	p := connect(t)
	p.link.Begin()
	g.Expect(p.link.Send(event("last"), nil)).To(gomega.Succeed())
	p.link.ExplainClose(conn.ServerStops)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = p.link.Close() // its error is of use to a log only
	}()
	_, text, err := p.client.Read(t.Context())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(text)).To(gomega.Equal("last"))
	_, _, err = p.client.Read(t.Context())
	g.Expect(websocket.CloseStatus(err)).To(gomega.Equal(websocket.StatusGoingAway))
	g.Eventually(closed, patience).Should(gomega.BeClosed())
}

// TestEventsThatWaitForAWriteCount checks that events count for the limits of the queue until they are written, also when they were sent
// before the writer began: a client that does not read is found by the limit, whenever it ceases to read.
func TestEventsThatWaitForAWriteCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		l, _, end := overPipe(t, Receiver{Tab: new(link.EventTab), Gone: func(error) {}}, func(l *Link) {
			for range maxQueued {
				g.Expect(l.Send(event("waits"), nil)).To(gomega.Succeed())
			}
		})
		<-time.After(settle)
		synctest.Wait() // the writer waits for the client to read the first event
		g.Expect(l.Send(event("has room"), nil)).To(gomega.Succeed())
		g.Expect(l.Send(event("has none"), nil)).To(gomega.MatchError(link.ErrBackpressure))
		end()
	})
}

// overPipe opens a link to a client over a pipe, which has no buffer: a write waits until the other side reads. prepare runs before the link
// begins; nil: nothing does. near is the client's side of the pipe. end ends everything and waits for it.
func overPipe(t *testing.T, receiver Receiver, prepare func(l *Link)) (l *Link, near net.Conn, end func()) {
	t.Helper()
	g := gomega.NewWithT(t)
	near, far := net.Pipe()
	listener := make(oneConnection, 1)
	listener <- far
	l = NewLink(Limits{Env: env.System(), EventsPerSecond: 500, MaxMessage: 1000})
	h := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := Accept(w, r, "test", l.limits)
		if err != nil {
			t.Error(err)
			return
		}
		l.Open(context.WithoutCancel(r.Context()), c, receiver)
		if prepare != nil {
			prepare(l)
		}
		l.Begin()
		<-l.Gone()
	})}
	served := make(chan error, 1)
	go func() { served <- h.Serve(listener) }()
	client, _, err := websocket.Dial(t.Context(), "ws://server.test/", &websocket.DialOptions{ //nolint:bodyclose // Dial has read it
		Subprotocols: []string{"test"}, HTTPClient: &http.Client{Transport: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) { return near, nil },
		}},
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return l, near, func() {
		t.Helper()
		l.Abandon()
		_ = client.CloseNow() // the server has closed it
		g.Expect(h.Close()).To(gomega.Succeed())
		g.Expect(<-served).To(gomega.MatchError(http.ErrServerClosed))
	}
}

// oneConnection is a net.Listener that accepts the connections that were put into it.
type oneConnection chan net.Conn

// Accept implements net.Listener.
func (c oneConnection) Accept() (net.Conn, error) {
	if conn, ok := <-c; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (c oneConnection) Close() error { close(c); return nil }

// Addr implements net.Listener.
func (c oneConnection) Addr() net.Addr { return &net.TCPAddr{} }

// TestFramesThatBreakTheProtocol checks that a client whose bytes are no frames of a client is told so with the code 1002 (RFC 6455,
// section 5.1).
func TestFramesThatBreakTheProtocol(t *testing.T) {
	for name, frame := range map[string][]byte{
		"without a mask":              {0x81, 2, '{', '}'},
		"with a reserved bit":         {0xc1, 0x82, 0, 0, 0, 0, '{', '}'},
		"with an unknown opcode":      {0x83, 0x80, 0, 0, 0, 0},
		"a continuation of nothing":   {0x80, 0x80, 0, 0, 0, 0},
		"a ping in pieces":            {0x09, 0x80, 0, 0, 0, 0},
		"a message within a message":  {0x01, 0x80, 0, 0, 0, 0, 0x81, 0x80, 0, 0, 0, 0},
		"a piece without a mask":      {0x01, 0x81, 0, 0, 0, 0, '{', 0x80, 1, '}'},
		"a ping of 126 bytes":         {0x89, 0xfe, 0, 126, 0, 0, 0, 0},
		"a length with the top bit":   {0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"a close frame with one byte": {0x88, 0x81, 0, 0, 0, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var raw net.Conn
			p := connectBy(t, &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, address)
				raw = c
				return c, err
			}}, env.System())
			p.link.Begin()
			_, err := raw.Write(frame)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Eventually(p.got.gone, patience).Should(gomega.Receive(gomega.MatchError(link.ErrUnreachable)))
			ended := make(chan error, 1)
			go func() { ended <- p.link.Close() }()
			_, _, err = p.client.Read(t.Context())
			g.Expect(websocket.CloseStatus(err)).To(gomega.Equal(websocket.StatusProtocolError), "%v", err)
			g.Eventually(ended, patience).Should(gomega.Receive())
		})
	}
}
