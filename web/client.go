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
	cutShown     = 1500 * time.Millisecond // how long "interrupted" is shown
	pollLoading  = time.Second             // between questions for the pipeline while a part loads
	pollTrouble  = 5 * time.Second         // … while a part is missing or the server does not answer
	pollDeadline = 5 * time.Second         // how long one answer may take
	maxUnsent    = 16                      // messages that wait until the call is connected
)

// semanticName is the name of the page's mark for Options.Semantic.
const semanticName = "antiphon-semantic-vad"

// Client is the Driver that holds a real call: a session of the SDK, with the
// requests for devices and pipeline that the page needs. All its methods may be called from any goroutine.
type Client struct {
	session *sdk.Session
	clock   sdk.Clock
	setKey  func(string)
	turns   *sdk.TurnDetection // of users who have chosen none

	mu        sync.Mutex
	show      func(Snapshot)
	last      sdk.Snapshot
	start     *Problem // a problem of the page itself, such as an insecure address
	dismissed error    // the microphone's error that the user has dismissed
	cut       string   // id of the newest interrupted line
	cutUntil  time.Duration
	latency   Latency // the last measured latency of this call
	settings  Settings
	unsent    []string
	asking    bool   // a question for the pipeline is under way
	unask     func() // cancels the next request; nil when none is waiting
}

// ClientOptions configure a Client. Dialer and Clock are required.
type ClientOptions struct {
	Dialer sdk.Dialer
	Clock  sdk.Clock
	// SetKey gives the dialer the server's key; may be nil.
	SetKey func(key string)
	// Start is a problem of the page itself; nil for none.
	Start *Problem
	// TurnDetection says when the user's turns end; nil leaves that to the server's settings.
	TurnDetection *sdk.TurnDetection
}

// NewClient makes a client. Its error is that of sdk.New.
func NewClient(o ClientOptions) (*Client, error) {
	session, err := sdk.New(sdk.Options{Dialer: o.Dialer, Clock: o.Clock, TurnDetection: o.TurnDetection, TakeBack: true})
	if err != nil {
		return nil, err
	}
	if o.SetKey == nil {
		o.SetKey = func(string) {}
	}
	return &Client{session: session, clock: o.Clock, setKey: o.SetKey, turns: o.TurnDetection, start: o.Start}, nil
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

// changed handles a snapshot of the session. Calls come one at a time.
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
		_ = c.session.SendText(text) // when the call ends meanwhile, a snapshot says so
	}
	c.refresh()
}

// lastCut returns the id of the newest interrupted line; empty when there is none.
func lastCut(s sdk.Snapshot) string {
	for i := len(s.Transcript) - 1; i >= 0; i-- {
		if s.Transcript[i].Interrupted {
			return s.Transcript[i].ItemID
		}
	}
	return ""
}

// refresh shows a new snapshot.
func (c *Client) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.show == nil {
		return
	}
	v := viewOf(c.last)
	v.Inside = insideOf(c.last, c.session.Inspect())
	c.latency = keepLatency(c.latency, v)
	v.Latency, v.ByHand = c.latency, c.settings.Turns == turnsByHand
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

// keepLatency returns the latency to show: the last known one of the present call.
func keepLatency(before Latency, v Snapshot) Latency {
	if v.Latency.Total > 0 || v.Latency.Failed || v.Phase == PhaseConnecting {
		return v.Latency
	}
	return before
}

// Talk places a call with the microphone.
func (c *Client) Talk() {
	c.mu.Lock()
	c.dismissed, c.start = nil, nil
	c.mu.Unlock()
	c.session.UseMicrophone(true)
	c.connect()
}

// connect places the call. The session's snapshots have its errors.
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

// Say sends a written message. It places a call first where there is none.
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

// Use takes the user's settings, in a call at once.
func (c *Client) Use(now Settings) {
	c.mu.Lock()
	before := c.settings
	c.settings = now
	c.mu.Unlock()
	_ = c.session.Update(now.patch(&before, c.turns)) // the drawer offers nothing that is refused here; the snapshot has a refusal of the server
	if by := now.Turns == turnsByHand; by != (before.Turns == turnsByHand) {
		c.session.StopTalking()
		c.session.SetMuted(by)
	}
	c.refresh()
}

// Hold opens the microphone while the user holds the button of push-to-talk.
func (c *Client) Hold(down bool) {
	if down {
		_ = c.session.StartTalking() // without a call the button is disabled
	} else {
		c.session.StopTalking()
	}
}

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

// UseKey sets the server's key and places the call.
func (c *Client) UseKey(key string) {
	c.setKey(key)
	c.Talk()
}

// ApproveRun approves or declines what a run asks.
func (c *Client) ApproveRun(run, question string, approve bool) {
	_ = c.session.ApproveRun(run, question, approve) // without a call the buttons are disabled; the snapshot has a refusal
}

// ReplyRun answers a question of a run.
func (c *Client) ReplyRun(run, question, reply string) { _ = c.session.ReplyRun(run, question, reply) }

// CancelRun ends a run.
func (c *Client) CancelRun(run string) { _ = c.session.CancelRun(run) }

// Play starts sound that the browser has blocked.
func (c *Client) Play() { c.session.ResumeSound() }

// Dismiss removes the problem from the page.
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

// Levels returns the present loudness of both sides.
func (c *Client) Levels() (mic, agent float64) {
	l := c.session.Levels()
	return float64(l.Mic), float64(l.Agent)
}

// poll asks for the pipeline now, and again until all parts are ready.
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

// untilPoll returns how long to wait before the next request; 0 when no request
// is needed.
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
