package bench

// This file has the client that is measured.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/wire"
)

// call is one call of a client. The client does without the SDK's session, so that the time of arrival of each event is known.
type call struct {
	id         string // id of the session
	peer       sdk.Peer
	microphone *microphone
	speaker    *native.Speaker
	events     chan arrival
	count      atomic.Int64  // how many events were sent and received
	ended      chan struct{} // closed when the call has ended
	end        sync.Once
}

// arrival is a server event and the time at which it came.
type arrival struct {
	wire.ServerEvent
	at time.Time
}

// maxArrivals limits the events that wait for await.
const maxArrivals = 4096

var errCallEnded = errors.New("the call has ended")

func newCall() *call {
	return &call{microphone: &microphone{}, speaker: native.NewSpeaker(0), events: make(chan arrival, maxArrivals), ended: make(chan struct{})}
}

// dial places a call over WebRTC. settings is the JSON of a session object.
func dial(ctx context.Context, url, settings string) (*call, error) {
	c := newCall()
	d, err := native.NewDialer(native.Options{URL: url, Microphone: c.microphone, Speaker: c.speaker, Loopback: true})
	if err != nil {
		return nil, err
	}
	return c.begin(ctx, d, sdk.CallConfig{}, settings)
}

// begin connects the call and waits until the session has its settings.
func (c *call) begin(ctx context.Context, d sdk.Dialer, config sdk.CallConfig, settings string) (*call, error) {
	var err error
	if c.peer, err = d.Dial(ctx, config, c.receive); err != nil {
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

// receive takes the events of the connection. It drops a server event if maxArrivals of them wait.
func (c *call) receive(e sdk.PeerEvent) {
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

func (c *call) send(events ...wire.ClientEvent) error {
	for _, e := range events {
		c.count.Add(1)
		if err := c.peer.Send(wire.AppendClient(nil, e)); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) ask(text string) error {
	return c.send(&wire.ConversationItemCreate{Item: wire.Item{
		Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: text}},
	}}, &wire.ResponseCreate{})
}

// await returns the next event of type E. It drops the events before it. An error event or a failed response ends the wait with an error.
func await[E wire.ServerEvent](ctx context.Context, c *call) (arrival, error) {
	for {
		select {
		case a := <-c.events:
			switch e := a.ServerEvent.(type) {
			case E:
				return a, nil
			case *wire.ErrorEvent:
				return a, fmt.Errorf("the server says: %s", e.Error.Message)
			case *wire.ResponseDone:
				if e.Response.Status == "failed" {
					return a, fmt.Errorf("a response failed: %+v", e.Response.StatusDetails.Error)
				}
			}
		case <-c.ended:
			return arrival{}, errCallEnded
		case <-ctx.Done():
			return arrival{}, ctx.Err()
		}
	}
}

// soundAfter waits for a frame with sound that arrives after t, and returns its time of arrival.
func (c *call) soundAfter(ctx context.Context, t time.Time) (time.Time, error) {
	for {
		for _, f := range c.lastFrames() {
			if f.At.After(t) && f.Level >= native.Audible {
				return f.At, nil
			}
		}
		if err := c.speaker.AwaitSound(ctx); err != nil {
			return time.Time{}, err
		}
	}
}

// lastFrames returns the last 500 frames, which are 10 s. The speaker keeps minutes.
func (c *call) lastFrames() []native.HeardFrame {
	all := c.speaker.Frames()
	return all[max(0, len(all)-500):]
}

// lastSound returns the time of arrival of the last frame with sound.
func (c *call) lastSound() time.Time {
	last, _ := c.speaker.Sounded()
	return last
}

// silence waits until there has been no sound for the duration d.
func (c *call) silence(ctx context.Context, d time.Duration) error {
	return c.speaker.AwaitSilence(ctx, d)
}

func (c *call) close() error { return c.peer.Close() }

// microphone records when the speech that it plays begins and ends. The time of a frame's last sample is the time of the call
// to Frame.
type microphone struct {
	native.Microphone
	mu          sync.Mutex
	begun, over time.Time // begin and end of the last speech
	speaking    bool
}

// Frame implements native.Source.
func (m *microphone) Frame(pcm []int16) {
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

// say plays a text as tones, and returns when they began and ended. It waits for the end.
func (m *microphone) say(ctx context.Context, text string) (begun, over time.Time, err error) {
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

// holdLog reads the trace of the machines. It keeps the time of the last hold of each session.
type holdLog struct {
	mu    sync.Mutex
	holds map[string]time.Time
}

// Write takes one line of the trace.
func (l *holdLog) Write(line []byte) (int, error) {
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

// last returns the time of the last hold of a session; zero if there was none.
func (l *holdLog) last(session string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holds[session]
}
