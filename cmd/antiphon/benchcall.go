package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// benchCall is a call that is measured: a client without the SDK's session, so that every event has its time of arrival.
type benchCall struct {
	id     string // the session's
	peer   sdk.Peer
	mouth  *mouth
	ear    *native.Speaker
	events chan arrival
	count  atomic.Int64 // of the events that came and went
	ended  chan struct{}
	end    sync.Once
}

// arrival is a server event and when it came.
type arrival struct {
	wire.ServerEvent
	at time.Time
}

// maxArrivals bounds the events that wait to be looked at.
const maxArrivals = 4096

var errCallEnded = errors.New("the call has ended")

func newBenchCall() *benchCall {
	return &benchCall{mouth: &mouth{}, ear: native.NewSpeaker(0), events: make(chan arrival, maxArrivals), ended: make(chan struct{})}
}

// dialBench places a call over WebRTC and configures it by settings, a session object.
func dialBench(ctx context.Context, url, settings string) (*benchCall, error) {
	c := newBenchCall()
	d, err := native.NewDialer(native.Options{URL: url, Microphone: c.mouth, Speaker: c.ear, Loopback: true})
	if err != nil {
		return nil, err
	}
	return c.begin(ctx, d, sdk.CallConfig{}, settings)
}

// begin places the call.
func (c *benchCall) begin(ctx context.Context, d sdk.Dialer, config sdk.CallConfig, settings string) (*benchCall, error) {
	var err error
	if c.peer, err = d.Dial(ctx, config, c.hear); err != nil {
		return nil, err
	}
	created, err := await[*wire.SessionCreated](ctx, c)
	if err == nil {
		if e, is := created.ServerEvent.(*wire.SessionCreated); is {
			c.id = e.Session.ID
		}
		err = c.send(&wire.AntiphonHello{Metrics: true}, &wire.SessionUpdate{Session: wire.Raw(settings)})
	}
	if err == nil {
		_, err = await[*wire.SessionUpdated](ctx, c)
	}
	if err != nil {
		return nil, errors.Join(err, c.peer.Close())
	}
	return c, nil
}

// hear takes what the call brings. An event that nobody has looked at for long is dropped.
func (c *benchCall) hear(e sdk.PeerEvent) {
	now := time.Now()
	switch e := e.(type) {
	case sdk.Message:
		c.count.Add(1)
		if event, err := wire.DecodeServer(e.Data); err == nil {
			select {
			case c.events <- arrival{event, now}:
			default:
			}
		}
	case sdk.PeerBroken, sdk.PeerEnded:
		c.end.Do(func() { close(c.ended) })
	}
}

func (c *benchCall) send(events ...wire.ClientEvent) error {
	for _, e := range events {
		c.count.Add(1)
		if err := c.peer.Send(wire.AppendClient(nil, e)); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a message and asks for the answer.
func (c *benchCall) ask(text string) error {
	return c.send(&wire.ConversationItemCreate{Item: wire.Item{
		Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: text}},
	}}, &wire.ResponseCreate{})
}

// await waits for the next event of a type.
func await[E wire.ServerEvent](ctx context.Context, c *benchCall) (arrival, error) {
	for {
		select {
		case a := <-c.events:
			switch e := a.ServerEvent.(type) {
			case E:
				return a, nil
			case *wire.ErrorEvent:
				return a, fmt.Errorf("the server says: %s", e.Error.Message)
			}
		case <-c.ended:
			return arrival{}, errCallEnded
		case <-ctx.Done():
			return arrival{}, ctx.Err()
		}
	}
}

// soundAfter waits for the first frame with sound that arrives after a moment, and says when it did.
func (c *benchCall) soundAfter(ctx context.Context, t time.Time) (time.Time, error) {
	for {
		for _, f := range c.lastFrames() {
			if f.At.After(t) && f.Level >= native.Audible {
				return f.At, nil
			}
		}
		if err := c.ear.AwaitSound(ctx); err != nil {
			return time.Time{}, err
		}
	}
}

// lastFrames are those of the last seconds: the ear remembers minutes.
func (c *benchCall) lastFrames() []native.HeardFrame {
	all := c.ear.Frames()
	return all[max(0, len(all)-500):]
}

// lastSound says when sound was heard last.
func (c *benchCall) lastSound() time.Time {
	last, _ := c.ear.Sounded()
	return last
}

func (c *benchCall) silence(ctx context.Context, d time.Duration) error {
	return c.ear.AwaitSilence(ctx, d)
}

func (c *benchCall) close() error { return c.peer.Close() }

// mouth is a microphone that knows when it was spoken into: a frame is complete when it is asked for.
type mouth struct {
	native.Microphone
	mu          sync.Mutex
	begun, over time.Time // of the last speech
	speaking    bool
}

// Frame implements native.Source.
func (m *mouth) Frame(pcm []int16) {
	m.Microphone.Frame(pcm)
	now := time.Now()
	first, last := -1, -1
	for i, v := range pcm {
		if v != 0 {
			last = i
			if first < 0 {
				first = i
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := func(sample int) time.Time {
		return now.Add(time.Duration(sample-len(pcm)) * time.Second / native.Rate)
	}
	if first >= 0 && !m.speaking {
		m.begun = at(first)
	}
	if last >= 0 {
		m.over = at(last + 1)
	}
	m.speaking = last >= 0
}

// say speaks a text and waits until it is said.
func (m *mouth) say(ctx context.Context, text string) (begun, over time.Time, err error) {
	said, err := m.Speak(scripted.Tones(text))
	if err != nil {
		return begun, over, err
	}
	select {
	case <-said:
	case <-ctx.Done():
		return begun, over, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.begun, m.over, nil
}

// stepLog is a trace that remembers when the agent was held last in each session.
type stepLog struct {
	mu    sync.Mutex
	holds map[string]time.Time
}

// Write takes one line of a trace.
func (l *stepLog) Write(line []byte) (int, error) {
	now := time.Now()
	if !bytes.Contains(line, []byte(`"machine":"playout"`)) {
		return len(line), nil
	}
	var step struct{ Session, Action string }
	if err := json.Unmarshal(line, &step); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if step.Action == "Hold" {
		if l.holds == nil {
			l.holds = map[string]time.Time{}
		}
		l.holds[step.Session] = now
	}
	return len(line), nil
}

// held says when the agent was held last.
func (l *stepLog) held(session string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holds[session]
}
