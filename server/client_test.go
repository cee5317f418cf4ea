package server_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
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

// patience is how long a test waits for what must happen: long, since only a failure waits for all of it.
const patience = 20 * time.Second

// serve runs a server on loopback until the test ends, and checks that it ends.
func serve(t *testing.T, p *pipeline.Pipeline, change func(*server.Config)) (address string) {
	t.Helper()
	g := gomega.NewWithT(t)
	cfg := server.Config{Pipeline: p, Loopback: true}
	if change != nil {
		change(&cfg)
	}
	s, err := server.New(cfg)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	hs := httptest.NewServer(s)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		g.Expect(s.Close(ctx)).To(gomega.Succeed())
		hs.Close()
		g.Expect(p.Close()).To(gomega.Succeed())
		now, _ := s.Calls()
		g.Expect(now).To(gomega.BeZero())
	})
	return hs.URL
}

// client is a plain WebSocket client that keeps everything it is sent.
type client struct {
	t  *testing.T
	g  *gomega.WithT
	ws *websocket.Conn

	mu     sync.Mutex
	events []wire.ServerEvent
	closed bool
	read   int // what await has passed
}

// dial places a call on a server with the scripted pipeline.
func dial(t *testing.T) *client {
	t.Helper()
	return dialTo(t, serve(t, scripted.New(scripted.Options{}), nil))
}

func dialTo(t *testing.T, address string) *client {
	t.Helper()
	c := &client{t: t, g: gomega.NewWithT(t)}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, strings.Replace(address, "http", "ws", 1)+"/v1/realtime?model=test", //nolint:bodyclose // a WebSocket has none
		&websocket.DialOptions{Subprotocols: []string{"realtime"}})
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	ws.SetReadLimit(-1)
	c.ws = ws
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		c.receive()
	}()
	t.Cleanup(func() {
		_ = ws.CloseNow() // the test may have closed it
		<-joined
	})
	first(c, "session.created")
	return c
}

func (c *client) receive() {
	for {
		_, text, err := c.ws.Read(context.Background())
		c.mu.Lock()
		if err != nil {
			c.closed = true
			c.mu.Unlock()
			return
		}
		e, err := wire.DecodeServer(text)
		if err != nil {
			c.t.Errorf("the server sent %.200s: %v", text, err)
		} else {
			c.events = append(c.events, e)
		}
		c.mu.Unlock()
	}
}

func (c *client) send(e wire.ClientEvent) { c.sendText(wire.AppendClient(nil, e)) }

func (c *client) sendText(text []byte) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	c.g.Expect(c.ws.Write(ctx, websocket.MessageText, text)).To(gomega.Succeed())
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

// quiet is ms of silence at 24 kHz.
func quiet(ms int) []int16 { return make([]int16, ms*24) }

func (c *client) ask(text string) {
	c.t.Helper()
	c.send(&wire.ConversationItemCreate{Item: wire.Item{
		Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: text}},
	}})
	c.send(&wire.ResponseCreate{})
}

// first waits for the next event of the type name after those that first has returned.
func first(c *client, name string) wire.ServerEvent {
	c.t.Helper()
	var found wire.ServerEvent
	c.g.Eventually(func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for i := c.read; i < len(c.events); i++ {
			if c.events[i].Type() == name {
				found, c.read = c.events[i], i+1
				return true
			}
		}
		return false
	}, patience, time.Millisecond).Should(gomega.BeTrue(), func() string {
		return "no " + name + " after " + strings.Join(c.names(), " ")
	})
	return found
}

// next is first with the event's type.
func next[E wire.ServerEvent](c *client, name string) E {
	c.t.Helper()
	e, ok := first(c, name).(E)
	c.g.Expect(ok).To(gomega.BeTrue(), name)
	return e
}

// names are the types of all events so far; runs of deltas count once.
func (c *client) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	seen := ""
	for _, e := range c.events {
		name := e.Type()
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
