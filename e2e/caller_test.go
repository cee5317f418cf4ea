package e2e

// The client of these tests: the native SDK with a microphone and a loudspeaker in memory.

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/wire"
)

// patience bounds every wait for an event that must come. A test reaches it only when something is broken.
const patience = 45 * time.Second

// caller is one client with a microphone and a loudspeaker: the whole SDK over a Dialer that keeps every event.
type caller struct {
	*gomega.WithT
	*sdk.Session
	name      string
	webSocket bool
	mic       microphone
	speaker   *native.Speaker
	line      *line
	losses    atomic.Int64 // how often the caller has shown that its connection is lost
	returns   int64        // how many of these losses comesBack has waited for
	read      int          // how many events next has passed
	live      bool         // a response has begun and not ended in the events that next has passed

	settled     time.Duration // how much of the received sound earlier checks have accounted for
	heardBefore time.Duration // how much was heard of a response that was cut, since then
	kept        string        // the words of an interrupted response that the conversation keeps
}

// callOptions are the options of a caller. The zero value is a well-behaved client over WebRTC.
type callOptions struct {
	name      string
	webSocket bool
	url       string
	sdk       sdk.Options
	native    native.Options
}

// call places a call and waits until it is connected. The call ends with the test.
func call(t *testing.T, o callOptions) *caller {
	t.Helper()
	c := newCaller(t, gomega.NewWithT(t), o)
	c.connect(t.Context())
	return c
}

// newCaller makes a caller. A failed expectation ends the goroutine that uses the caller.
func newCaller(t *testing.T, g *gomega.WithT, o callOptions) *caller {
	t.Helper()
	c := &caller{WithT: g, name: o.name, webSocket: o.webSocket, speaker: native.NewSpeaker(time.Minute), line: newLine(t)}
	c.line.mic = &c.mic
	n := o.native
	n.URL, n.Microphone, n.Speaker, n.Loopback = o.url, &c.mic, c.speaker, true
	if o.webSocket {
		c.line.Dialer = native.NewSocketDialer(n)
	} else {
		d, err := native.NewDialer(n)
		c.Expect(err).NotTo(gomega.HaveOccurred())
		c.line.Dialer = d
	}
	o.sdk.Dialer = c.line
	s, err := sdk.New(o.sdk)
	c.Expect(err).NotTo(gomega.HaveOccurred())
	c.Session = s
	before := s.Snapshot().State
	s.Subscribe(func(now sdk.Snapshot) {
		if now.State == sdk.Reconnecting && before != sdk.Reconnecting {
			c.losses.Add(1)
		}
		before = now.State
	})
	t.Cleanup(func() {
		c.line.deaf.open()
		c.hangUp()
	})
	return c
}

func (c *caller) connect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c.Expect(c.Connect(ctx)).To(gomega.Succeed())
	c.next("session.created")
	c.next("session.updated")
}

func (c *caller) hangUp() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		c.line.t.Errorf("%s hangs up: %v", c.name, err)
	}
}

// say speaks a text in tones that the scripted recogniser understands, and waits until the microphone has sent them.
func (c *caller) say(text string) { c.speak(tones(text)) }

func (c *caller) speak(pcm []int16) {
	said, err := c.mic.Speak(pcm)
	c.Expect(err).NotTo(gomega.HaveOccurred())
	c.await(said, "the microphone to take what is said")
}

func (c *caller) await(done <-chan struct{}, what string) {
	select {
	case <-done:
	case <-time.After(patience):
		c.Expect(what).To(gomega.BeEmpty(), "waited in vain for")
	}
}

// send sends one event to the server directly, without the SDK's session.
func (c *caller) send(e wire.ClientEvent) { c.sendText(wire.AppendClient(nil, e)) }

func (c *caller) sendText(text []byte) {
	c.Expect(c.line.peer().Send(text)).To(gomega.Succeed())
}

// ask sends a message and requests a response.
func (c *caller) ask(text string) {
	c.send(&wire.ConversationItemCreate{Item: wire.Item{
		Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: text}},
	}})
	c.send(&wire.ResponseCreate{})
}

// nextSeen waits for the next event of this type after the events that it has passed.
func (c *caller) nextSeen(name string) seen {
	found, at, ok := c.line.find(c.read, func(s seen) bool { return s.Type() == name })
	c.Expect(ok).To(gomega.BeTrue(), func() string {
		return fmt.Sprintf("no %s after %s", name, strings.Join(names(c.line.since(0)), " "))
	})
	for _, e := range c.line.since(c.read)[:at+1-c.read] {
		switch e.Type() {
		case "response.created":
			c.live = true
		case "response.done":
			c.live = false
		}
	}
	c.read = at + 1
	return found
}

func (c *caller) next(name string) wire.ServerEvent { return c.nextSeen(name).ServerEvent }

// nextOf is next for the Go type E of the event.
func nextOf[E wire.ServerEvent](c *caller) E {
	var zero E
	e, ok := c.next(zero.Type()).(E)
	c.Expect(ok).To(gomega.BeTrue())
	return e
}

// seen is an event as it arrived.
type seen struct {
	wire.ServerEvent
	spoken time.Duration // how much sound the microphone had sent by then
}

// microphone counts the sound that the call has taken from it. A test that measures time by this count does not depend on how busy
// the machine is.
type microphone struct {
	native.Microphone
	samples atomic.Int64
}

// Frame implements native.Source.
func (m *microphone) Frame(pcm []int16) {
	m.Microphone.Frame(pcm)
	m.samples.Add(int64(len(pcm)))
}

// spoken returns how much sound the call has taken.
func (m *microphone) spoken() time.Duration {
	return time.Duration(m.samples.Load()) * time.Second / native.Rate
}

// line is a Dialer that keeps every event that passes through it. The peer's goroutines add events; changed wakes the goroutines that
// wait for one.
type line struct {
	sdk.Dialer
	t    *testing.T
	mic  *microphone
	deaf gate // while it is closed, the caller does not get server events

	mu      sync.Mutex
	link    sdk.Peer
	events  []seen
	changed chan struct{}
}

func newLine(t *testing.T) *line { return &line{t: t, changed: make(chan struct{})} }

// Dial implements sdk.Dialer.
func (l *line) Dial(ctx context.Context, c sdk.CallConfig, sink func(sdk.PeerEvent)) (sdk.Peer, error) {
	p, err := l.Dialer.Dial(ctx, c, func(e sdk.PeerEvent) {
		l.deaf.pass()
		l.note(e)
		sink(e)
	})
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.link = p
	}
	return p, err
}

// Pipeline implements sdk.PipelineSource.
func (l *line) Pipeline(ctx context.Context) (sdk.Pipeline, error) {
	source, ok := l.Dialer.(sdk.PipelineSource)
	if !ok {
		return sdk.Pipeline{}, sdk.ErrUnavailable
	}
	return source.Pipeline(ctx)
}

func (l *line) peer() sdk.Peer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.link
}

func (l *line) note(e sdk.PeerEvent) {
	message, is := e.(sdk.Message)
	if !is {
		return
	}
	event, err := wire.DecodeServer(message.Data)
	if err != nil {
		l.t.Errorf("the server sent %.300s: %v", message.Data, err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, seen{event, l.mic.spoken()})
	close(l.changed)
	l.changed = make(chan struct{})
}

// find waits for the first event from number n on for which wanted returns true. It returns the event and its number.
func (l *line) find(n int, wanted func(seen) bool) (found seen, at int, ok bool) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		l.mu.Lock()
		events, changed := l.events, l.changed
		l.mu.Unlock()
		for ; n < len(events); n++ {
			if wanted(events[n]) {
				return events[n], n, true
			}
		}
		select {
		case <-changed:
		case <-limit.C:
			return seen{}, 0, false
		}
	}
}

// since returns the events from number n on.
func (l *line) since(n int) []seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]seen(nil), l.events[min(n, len(l.events)):]...)
}

// names returns the types of events. A run of one type, such as deltas, counts once. rate_limits.updated does not count.
func names(events []seen) []string {
	var out []string
	told := map[string]bool{}
	for _, e := range events {
		name := e.Type()
		if name == "rate_limits.updated" {
			continue
		}
		if !strings.HasSuffix(name, ".delta") {
			clear(told)
		} else if told[name] {
			continue
		}
		told[name] = true
		out = append(out, name)
	}
	return out
}

// count returns how many events of this type have come so far.
func (c *caller) count(name string) int {
	n := 0
	for _, e := range c.line.since(0) {
		if e.Type() == name {
			n++
		}
	}
	return n
}

// tones returns sound from which the scripted recogniser reads this text.
func tones(text string) []int16 { return scripted.Tones(text) }

// length returns the duration of PCM at the native client's rate.
func length(pcm []int16) time.Duration { return time.Duration(len(pcm)) * time.Second / native.Rate }
