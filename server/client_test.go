package server_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/servertest"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The test kit: a server in a synctest bubble and a plain WebSocket client.

// patience is how long a test waits at most.
const patience = servertest.Patience

var (
	story    = servertest.Story
	wait     = servertest.Wait
	byScript = servertest.ByScript
)

// host is a server and the network to it.
type host struct {
	t      *testing.T
	g      *gomega.WithT
	server *server.Server
	net    *memory
	web    *http.Client
	header http.Header // of the requests for calls
}

// serve runs a server until the test ends, and checks that it leaves nothing behind.
func serve(t *testing.T, p *pipeline.Pipeline, change func(*server.Config)) *host {
	t.Helper()
	g := gomega.NewWithT(t)
	cfg := server.Config{Pipeline: p, Loopback: true}
	if change != nil {
		change(&cfg)
	}
	s, err := server.New(cfg)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	h := &host{t: t, g: g, server: s, net: newMemory()}
	h.web = &http.Client{Transport: &http.Transport{DialContext: h.net.dial, DisableKeepAlives: true}}
	hs := &http.Server{Handler: s, ReadHeaderTimeout: patience}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = hs.Serve(h.net) // http.ErrServerClosed
	}()
	t.Cleanup(func() {
		h.close()
		_ = hs.Close() // the calls have ended
		<-served
		g.Expect(p.Close()).To(gomega.Succeed())
		now, _ := s.Calls()
		g.Expect(now).To(gomega.BeZero())
	})
	return h
}

func (h *host) close() {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h.g.Expect(h.server.Close(ctx)).To(gomega.Succeed())
}

// answer is a response to a plain request.
type answer struct {
	status int
	header http.Header
	body   string
}

// get sends one request; headers come in pairs of name and value.
func (h *host) get(path string, headers ...string) answer {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, "http://server.test"+path, nil)
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := h.web.Do(r)
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = resp.Body.Close() }() // it was read
	text, err := io.ReadAll(resp.Body)
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// client is a plain WebSocket client that keeps all events.
type client struct {
	*servertest.Inbox
	t  *testing.T
	g  *gomega.WithT
	ws *websocket.Conn

	over   chan struct{}        // closed when the connection is closed
	closed websocket.StatusCode // how the server closed it; set before over is closed
}

// dial begins a call on a server with the scripted pipeline.
func dial(t *testing.T) *client {
	t.Helper()
	return serve(t, scripted.New(scripted.Options{}), nil).dial()
}

// dial begins a call and waits for session.created.
func (h *host) dial() *client {
	h.t.Helper()
	c := h.call()
	first(c, "session.created")
	return c
}

// call opens a WebSocket.
func (h *host) call() *client {
	h.t.Helper()
	return h.callAnswering(true)
}

// callAnswering is call for a client that answers pings only if pongs is true.
func (h *host) callAnswering(pongs bool) *client {
	h.t.Helper()
	c := &client{Inbox: servertest.NewInbox(h.t), t: h.t, g: h.g, over: make(chan struct{})}
	answers := func(context.Context, []byte) bool { return pongs }
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws://server.test/v1/realtime?model=test", //nolint:bodyclose // a WebSocket has none
		&websocket.DialOptions{Subprotocols: []string{"realtime"}, HTTPClient: h.web, OnPingReceived: answers, HTTPHeader: h.header})
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	ws.SetReadLimit(-1)
	c.ws = ws
	go c.receive()
	h.t.Cleanup(func() {
		_ = ws.CloseNow() // the test may have closed it
		<-c.over
	})
	return c
}

func (c *client) receive() {
	defer close(c.over)
	for {
		_, text, err := c.ws.Read(context.Background())
		if err != nil {
			c.closed = websocket.CloseStatus(err)
			return
		}
		e, bad := wire.DecodeServer(text)
		if bad != nil {
			c.t.Errorf("the server sent %.200s: %v", text, bad)
			continue
		}
		c.Put(e)
	}
}

func (c *client) send(e wire.ClientEvent) { c.sendText(string(wire.AppendClient(nil, e))) }

func (c *client) sendText(text string) { c.message(websocket.MessageText, []byte(text)) }

func (c *client) message(kind websocket.MessageType, text []byte) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	c.g.Expect(c.ws.Write(ctx, kind, text)).To(gomega.Succeed())
}

// say appends audio in pieces of 100 ms, as fast as the server takes it.
func (c *client) say(pcm []int16) {
	c.t.Helper()
	for len(pcm) > 0 {
		n := min(len(pcm), 2400)
		c.send(&wire.InputAudioBufferAppend{Audio: voice.PCM16ToBytes(nil, pcm[:n])})
		pcm = pcm[n:]
	}
}

// speak appends audio in real time, as a microphone does.
func (c *client) speak(pcm []int16) {
	c.t.Helper()
	for len(pcm) > 0 {
		n := min(len(pcm), 480)
		wait(20 * time.Millisecond)
		c.say(pcm[:n])
		pcm = pcm[n:]
	}
}

// quiet returns ms milliseconds of silence at 24 kHz.
func quiet(ms int) []int16 { return make([]int16, ms*24) }

// write adds a message of the user to the conversation.
func (c *client) write(text string) {
	c.t.Helper()
	c.send(&wire.ConversationItemCreate{Item: wire.Item{
		Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: text}},
	}})
}

// ask writes a message and asks for a response.
func (c *client) ask(text string) {
	c.t.Helper()
	c.write(text)
	c.send(&wire.ResponseCreate{})
}

// settle sends a session.update and waits for session.updated.
func (c *client) settle(session string) *wire.SessionUpdated {
	c.t.Helper()
	c.sendText(`{"type":"session.update","session":{"type":"realtime",` + session + `}}`)
	return next[*wire.SessionUpdated](c, "session.updated")
}

// first waits for the next event of the type name after those that it has returned before.
func first(c *client, name string) {
	c.t.Helper()
	c.First(name)
}

// next is first, and returns the event with its Go type E.
func next[E wire.ServerEvent](c *client, name string) E {
	c.t.Helper()
	return servertest.Next[E](c.Inbox, name)
}

// refused waits for an error event and checks its code and the event_id that it names.
func refused(c *client, code, eventID string) wire.Error {
	c.t.Helper()
	e := next[*wire.ErrorEvent](c, "error").Error
	c.g.Expect(e.Code).To(gomega.Equal(code), e.Message)
	c.g.Expect(e.Message).NotTo(gomega.BeEmpty())
	if eventID == "" {
		c.g.Expect(e.EventID).To(gomega.BeNil())
	} else {
		c.g.Expect(e.EventID).To(gomega.HaveValue(gomega.Equal(eventID)))
	}
	return e
}

// goesOn checks that the session still works: it answers a text.
func goesOn(c *client) {
	c.t.Helper()
	c.ask("are you there")
	done := next[*wire.ResponseDone](c, "response.done")
	c.g.Expect(done.Response.Status).To(gomega.Equal("completed"))
}

// ended waits until the connection is closed, and returns the server's close code.
func (c *client) ended() websocket.StatusCode {
	c.t.Helper()
	select {
	case <-c.over:
	case <-time.After(patience):
		c.t.Fatal("the connection is still open")
	}
	return c.closed
}

// names returns the types of all events so far; a run of deltas counts once.
func (c *client) names() []string {
	var out []string
	seen := ""
	for _, e := range c.All() {
		name := e.Type()
		if name == "rate_limits.updated" {
			continue // it follows each response at an unknown time
		}
		if strings.HasSuffix(name, ".delta") {
			if strings.Contains(seen, name) {
				continue
			}
			seen += name
		} else {
			seen = ""
		}
		out = append(out, name)
	}
	return out
}
