package server_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The test kit: a server in a synctest bubble and a plain WebSocket client.

// patience is how long a test waits at most, on the clock of its bubble: there it passes at once.
const patience = 2 * time.Minute

// story runs a test in a synctest bubble: server, client and pipeline have a clock of their own, which advances when all of them wait.
// So nothing depends on how busy the machine is.
func story(t *testing.T, name string, tell func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, tell) })
}

// host is a server and the network to it.
type host struct {
	t      *testing.T
	g      *gomega.WithT
	server *server.Server
	net    *memory
	web    *http.Client
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

// byScript returns a scripted pipeline for a script in YAML.
func byScript(t *testing.T, yaml string) *pipeline.Pipeline {
	t.Helper()
	s, err := scripted.Parse(t.Name(), []byte(yaml))
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return scripted.New(scripted.Options{Script: s})
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
	t  *testing.T
	g  *gomega.WithT
	ws *websocket.Conn

	mu      sync.Mutex
	events  []wire.ServerEvent
	closed  websocket.StatusCode // how the server closed it; 0 before
	read    int                  // how many events first has read
	arrived chan struct{}
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
	c := &client{t: h.t, g: h.g, arrived: make(chan struct{}, 1)}
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws://server.test/v1/realtime?model=test", //nolint:bodyclose // a WebSocket has none
		&websocket.DialOptions{Subprotocols: []string{"realtime"}, HTTPClient: h.web})
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	ws.SetReadLimit(-1)
	c.ws = ws
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		c.receive()
	}()
	h.t.Cleanup(func() {
		_ = ws.CloseNow() // the test may have closed it
		<-joined
	})
	return c
}

func (c *client) receive() {
	for {
		_, text, err := c.ws.Read(context.Background())
		c.mu.Lock()
		if err != nil {
			c.closed = websocket.CloseStatus(err)
		} else if e, bad := wire.DecodeServer(text); bad != nil {
			c.t.Errorf("the server sent %.200s: %v", text, bad)
		} else {
			c.events = append(c.events, e)
		}
		c.mu.Unlock()
		select {
		case c.arrived <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
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

// wait lets the bubble's time pass.
func wait(d time.Duration) { <-time.After(d) }

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
func first(c *client, name string) wire.ServerEvent {
	c.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		if e := c.find(name); e != nil {
			return e
		}
		select {
		case <-c.arrived:
		case <-late.C:
			c.t.Fatalf("no %s after %s", name, strings.Join(c.names(), " "))
		}
	}
}

func (c *client) find(name string) wire.ServerEvent {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := c.read; i < len(c.events); i++ {
		if c.events[i].Type() == name {
			c.read = i + 1
			return c.events[i]
		}
	}
	return nil
}

// next is first, with the event's Go type.
func next[E wire.ServerEvent](c *client, name string) E {
	c.t.Helper()
	e, ok := first(c, name).(E)
	c.g.Expect(ok).To(gomega.BeTrue(), name)
	return e
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
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		c.mu.Lock()
		closed := c.closed
		c.mu.Unlock()
		if closed != 0 {
			return closed
		}
		select {
		case <-c.arrived:
		case <-late.C:
			c.t.Fatal("the connection is still open")
		}
	}
}

// all returns the events so far.
func (c *client) all() []wire.ServerEvent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.events)
}

// names returns the types of all events so far; a run of deltas counts once.
func (c *client) names() []string {
	var out []string
	seen := ""
	for _, e := range c.all() {
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
