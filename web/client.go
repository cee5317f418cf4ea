package web

// The client: a Driver that holds a real call through package sdk and turns its snapshots into those of the page.

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
)

const (
	cutShown     = 1500 * time.Millisecond // how long "interrupted" stands
	pollLoading  = time.Second             // between questions for the pipeline while a part loads
	pollTrouble  = 5 * time.Second         // … while one is missing or the server is away
	pollDeadline = 5 * time.Second         // for one answer
	maxUnsent    = 16                      // messages that wait until the call is connected
)

// Client is the Driver that holds a real call: a session of the SDK and what
// the page needs around it. All its methods may be called from any goroutine.
type Client struct {
	session *sdk.Session
	clock   sdk.Clock
	setKey  func(string)

	mu        sync.Mutex
	show      func(Snapshot)
	last      sdk.Snapshot
	start     *Problem // of the page itself, such as an insecure address
	dismissed error    // the microphone's error that the user has taken off
	cut       string   // id of the newest interrupted line
	cutUntil  time.Duration
	latency   Latency // of the last answer that was measured in this call
	unsent    []string
	asking    bool   // a question for the pipeline is under way
	unask     func() // takes back the next question; nil when none is waiting
}

// NewClient makes a client on a dialer. setKey tells the dialer the server's
// key; it may be nil. start is what is wrong with the page itself, and may be
// nil.
func NewClient(dialer sdk.Dialer, clock sdk.Clock, setKey func(string), start *Problem) (*Client, error) {
	session, err := sdk.New(sdk.Options{Dialer: dialer, Clock: clock})
	if err != nil {
		return nil, err
	}
	if setKey == nil {
		setKey = func(string) {}
	}
	return &Client{session: session, clock: clock, setKey: setKey, start: start}, nil
}

// Start begins the delivery of snapshots and asks for the devices and the
// pipeline.
func (c *Client) Start(show func(Snapshot)) {
	c.mu.Lock()
	c.show = show
	c.mu.Unlock()
	c.session.Subscribe(c.changed)
	go func() { _ = c.session.RefreshDevices(context.Background()) }() // without a list the default is used
	c.poll()
}

// changed takes a snapshot of the session. It is called one at a time.
func (c *Client) changed(s sdk.Snapshot) {
	c.mu.Lock()
	cut := lastCut(s)
	if cut != "" && cut != c.cut && s.State.OnCall() {
		c.cutUntil = c.clock.Now() + cutShown
		c.clock.AfterFunc(cutShown, c.refresh)
	}
	c.cut, c.last = cut, s
	var send []string
	if s.State.OnCall() {
		send, c.unsent = c.unsent, nil
	}
	c.mu.Unlock()
	for _, text := range send {
		_ = c.session.SendText(text) // a call that ends meanwhile says so itself
	}
	c.refresh()
}

// lastCut is the id of the newest interrupted line; empty when there is none.
func lastCut(s sdk.Snapshot) string {
	for i := len(s.Transcript) - 1; i >= 0; i-- {
		if s.Transcript[i].Interrupted {
			return s.Transcript[i].ItemID
		}
	}
	return ""
}

// refresh shows what there is now.
func (c *Client) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.show == nil {
		return
	}
	v := viewOf(c.last)
	v.Inside = insideOf(c.last, c.session.Inspect())
	c.latency = keepLatency(c.latency, v)
	v.Latency = c.latency
	if c.clock.Now() < c.cutUntil && (v.Phase == PhaseListening || v.Phase == PhaseHearing) {
		v.Phase = PhaseInterrupted
	}
	if v.Problem != nil && c.last.Err == nil && c.last.MicErr != nil && errors.Is(c.last.MicErr, c.dismissed) {
		v.Problem = nil
	}
	if v.Problem == nil {
		v.Problem = c.start
	}
	c.show(v)
}

// keepLatency is the latency to show: the last known one of the present call.
func keepLatency(before Latency, v Snapshot) Latency {
	if v.Latency.Total > 0 || v.Phase == PhaseConnecting {
		return v.Latency
	}
	return before
}

// Talk makes a call with the microphone.
func (c *Client) Talk() {
	c.mu.Lock()
	c.dismissed, c.start = nil, nil
	c.mu.Unlock()
	c.session.UseMicrophone(true)
	c.connect()
}

// connect makes the call. What goes wrong is in the session's snapshots.
func (c *Client) connect() {
	go func() {
		_ = c.session.Connect(context.Background())
		_ = c.session.RefreshDevices(context.Background()) // they have names once one is allowed
		c.poll()
	}()
}

// End ends the call.
func (c *Client) End() {
	c.mu.Lock()
	c.unsent = nil
	c.mu.Unlock()
	go func() { _ = c.session.Close(context.Background()) }()
}

// Say sends a written message, after making a call where there is none.
func (c *Client) Say(text string) {
	if c.session.SendText(text) == nil {
		return
	}
	c.mu.Lock()
	if len(c.unsent) < maxUnsent {
		c.unsent = append(c.unsent, text)
	}
	state := c.last.State
	c.mu.Unlock()
	if state == sdk.Disconnected || state == sdk.Failed {
		c.session.UseMicrophone(false)
		c.connect()
	}
}

// Interrupt stops the answer under way.
func (c *Client) Interrupt() { _ = c.session.Interrupt() } // without a call there is none

// Mute closes or opens the microphone.
func (c *Client) Mute(muted bool) { c.session.SetMuted(muted) }

// UseMicrophone changes the microphone, in a call at once.
func (c *Client) UseMicrophone(id string) {
	c.mu.Lock()
	c.dismissed = nil
	c.mu.Unlock()
	go func() { _ = c.session.SetMicrophone(context.Background(), id) }() // the snapshot has the error
}

// RetryMicrophone opens the chosen microphone again.
func (c *Client) RetryMicrophone() {
	if !c.session.Snapshot().State.OnCall() {
		c.Talk()
		return
	}
	c.UseMicrophone(c.session.Snapshot().Microphone)
}

// UseSpeaker changes the loudspeaker, in a call at once.
func (c *Client) UseSpeaker(id string) {
	go func() { _ = c.session.SetSpeaker(context.Background(), id) }() // the old one stays in use
}

// UseKey sets the server's key and makes the call.
func (c *Client) UseKey(key string) {
	c.setKey(key)
	c.Talk()
}

// Play lets held-back sound play.
func (c *Client) Play() { c.session.ResumeSound() }

// Dismiss takes the problem off the page.
func (c *Client) Dismiss() {
	c.mu.Lock()
	c.start = nil
	if c.last.Err == nil {
		c.dismissed = c.last.MicErr
	}
	c.mu.Unlock()
	c.session.DismissError()
	c.refresh()
}

// Levels are the loudness of both sides now.
func (c *Client) Levels() (mic, agent float64) {
	l := c.session.Levels()
	return float64(l.Mic), float64(l.Agent)
}

// poll asks for the pipeline now, and again as long as it is not whole.
func (c *Client) poll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unask != nil {
		c.unask()
		c.unask = nil
	}
	if c.asking {
		return
	}
	c.asking = true
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), pollDeadline)
		_ = c.session.RefreshPipeline(ctx) // the snapshot has the error
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asking = false
		if pause := untilPoll(c.session.Snapshot().Pipeline); pause > 0 {
			c.unask = c.clock.AfterFunc(pause, c.poll)
		}
	}()
}

// untilPoll is how long to wait before the next question; 0 when there is
// nothing left to ask.
func untilPoll(p sdk.Pipeline) time.Duration {
	if p.Err != nil || !p.Known {
		return pollTrouble
	}
	var pause time.Duration
	for _, c := range p.Components {
		switch ComponentState(c.State) {
		case ComponentLoading:
			return pollLoading
		case ComponentMissing, ComponentFailed:
			pause = pollTrouble
		case ComponentReady:
		}
	}
	return pause
}
