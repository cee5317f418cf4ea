package session

// The client that the tests of this package use: it is the transport of a session, sends events and sound, and waits for events.

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/servertest"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	story    = servertest.Story
	wait     = servertest.Wait
	byScript = servertest.ByScript
)

// caller is the client of a session in a test. It is also the session's link.Link.
type caller struct {
	*servertest.Inbox
	t *testing.T
	g *gomega.WithT
	s *Session

	mu      sync.Mutex
	fails   error          // the error that Send returns
	sent    chan func()    // the functions to call when the events in flight have been sent
	over    sync.WaitGroup // the goroutine that calls them
	pacer   *pacer         // nil for a client that plays by itself
	record  record         // all events of both directions
	logbook memoryBook     // of the session
	tap     func(wire.ServerEvent)
	// roundTrip is the round-trip time to this client, in nanoseconds; 0 is not measured yet.
	roundTrip atomic.Int64
}

// RoundTrip returns roundTrip to the session.
func (c *caller) RoundTrip() time.Duration { return time.Duration(c.roundTrip.Load()) }

// byWebRTC places a call whose audio is paced by the server.
func byWebRTC(t *testing.T, p *pipeline.Pipeline) *caller {
	t.Helper()
	c := newCaller(t, p)
	c.pacer = newPacer(c.s, nil)
	return c.start()
}

// byWebSocket places a call whose client plays by itself.
func byWebSocket(t *testing.T, p *pipeline.Pipeline) *caller {
	t.Helper()
	return newCaller(t, p).start()
}

func newCaller(t *testing.T, p *pipeline.Pipeline) *caller {
	t.Helper()
	return newCallerWith(t, Config{Pipeline: p, Settings: wire.DefaultSession()})
}

// endedSessions counts the sessions of these tests that have ended. One of "replayed" many plays again from its logbook.
var endedSessions atomic.Int64

// newCallerWith makes a session from cfg, and its caller.
func newCallerWith(t *testing.T, cfg Config) *caller {
	t.Helper()
	g := gomega.NewWithT(t)
	c := &caller{Inbox: servertest.NewInbox(t), t: t, g: g, sent: make(chan func(), 10_000)}
	cfg.CheckInvariants, cfg.Record = true, c.record.event
	cfg.Logbook = c.logbook.recording()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(alarm{slog.DiscardHandler, t})
	}
	var err error
	c.s, err = New(cfg)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	c.over.Go(func() {
		for sent := range c.sent {
			sent()
		}
	})
	return c
}

func (c *caller) start() *caller {
	c.t.Helper()
	c.s.Start(c)
	c.t.Cleanup(func() {
		defer func() { c.g.Expect(follow(c.All()).wrong).To(gomega.BeEmpty()) }()
		defer c.checkRecord()
		defer func() {
			if endedSessions.Add(1)%replayed == 0 {
				c.logbook.check(c.t)
			}
		}()
		select {
		case <-c.s.Done():
			return
		case <-time.After(servertest.Patience): // the session comes to rest
		}
		c.s.Close(conn.ByClient)
		<-c.s.Done()
		c.g.Expect(c.s.generator.Len()).To(gomega.BeZero(), "a response is left")
		c.g.Expect(c.s.input.Turns()).To(gomega.BeZero(), "a turn is left")
	})
	first(c, "session.created")
	return c
}

// alarm is a slog.Handler that fails the test when the session logs an error.
type alarm struct {
	slog.Handler
	t *testing.T
}

// Enabled implements slog.Handler.
func (alarm) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

// Handle implements slog.Handler.
func (a alarm) Handle(_ context.Context, r slog.Record) error {
	if r.Message == sessionFailed || r.Message == invariantBroken {
		r.Attrs(func(at slog.Attr) bool {
			a.t.Errorf("%s: %s", r.Message, at)
			return true
		})
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (a alarm) WithAttrs([]slog.Attr) slog.Handler { return a }

func plain() *pipeline.Pipeline { return scripted.New(scripted.Options{}) }

// Send implements link.Link.
func (c *caller) Send(sending link.Event, sent func()) error {
	text := sending.Text
	e, err := wire.DecodeServer(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.t.Errorf("the session sent %.200s: %v", text, err)
		return nil
	}
	if c.fails != nil {
		return c.fails
	}
	if c.tap != nil {
		c.tap(e)
	}
	if sent != nil {
		c.sent <- sent
	}
	c.Put(e)
	return nil
}

// Output implements link.Link.
func (c *caller) Output() link.Output {
	if c.pacer == nil {
		return nil
	}
	return c.pacer
}

// Close implements link.Link.
func (c *caller) Close() error {
	if c.pacer != nil {
		c.pacer.close()
	}
	close(c.sent)
	c.over.Wait()
	return nil
}

func (c *caller) send(text string) { c.s.Message([]byte(text), true) }

// ask creates a message of the user and requests a response.
func (c *caller) ask(text string) {
	c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}}`)
	c.send(`{"type":"response.create"}`)
}

// settle changes the session's settings, and waits until the server has taken them.
func (c *caller) settle(session string) {
	c.t.Helper()
	c.send(`{"type":"session.update","session":{"type":"realtime",` + session + `}}`)
	first(c, "session.updated")
}

// speak sends audio at the speed of a microphone: 20 ms every 20 ms.
func (c *caller) speak(pcm []int16) {
	for len(pcm) > 0 {
		n := min(len(pcm), 480)
		wait(20 * time.Millisecond)
		c.s.Audio(pcm[:n])
		pcm = pcm[n:]
	}
}

func (c *caller) quiet(ms int) { c.speak(make([]int16, ms*24)) }

// first waits for the next event of this type after the events that earlier calls of first have returned or passed.
func first(c *caller, name string) {
	c.t.Helper()
	c.First(name)
}

// next is first, and returns the event with its Go type E.
func next[E wire.ServerEvent](c *caller, name string) E {
	c.t.Helper()
	return servertest.Next[E](c.Inbox, name)
}

// since returns the names after the newest event of this type.
func (c *caller) since(name string) []string {
	names := c.Names()
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] == name {
			return names[i+1:]
		}
	}
	return nil
}

// count returns how many events of this type have come.
func (c *caller) count(name string) int {
	n := 0
	for _, e := range c.Names() {
		if e == name {
			n++
		}
	}
	return n
}
