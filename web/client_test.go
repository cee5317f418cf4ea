package web

// Tests of the Client with a fake dialer: calls, messages, phases, latencies and problems.

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
)

// clock is an sdk.Clock that a test moves by hand.
type clock struct {
	mu     sync.Mutex
	now    time.Duration
	timers map[int]timer
	next   int
}

type timer struct {
	at time.Duration
	f  func()
}

func (c *clock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) AfterFunc(d time.Duration, f func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timers == nil {
		c.timers = make(map[int]timer)
	}
	c.next++
	id := c.next
	c.timers[id] = timer{at: c.now + d, f: f}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.timers, id)
	}
}

// pass moves the clock and runs the functions that are due.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	c.now += d
	var due []func()
	for id, t := range c.timers {
		if t.at <= c.now {
			due = append(due, t.f)
			delete(c.timers, id)
		}
	}
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

// line is a fake dialer, and the peer of the one call that it places.
type line struct {
	mu       sync.Mutex
	dialed   []sdk.CallConfig
	sink     func(sdk.PeerEvent)
	sent     []string
	asked    int
	pipeline sdk.Pipeline
	mic      error
}

func (l *line) Dial(_ context.Context, c sdk.CallConfig, sink func(sdk.PeerEvent)) (sdk.Peer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dialed, l.sink = append(l.dialed, c), sink
	return l, nil
}

func (l *line) Pipeline(context.Context) (sdk.Pipeline, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	return l.pipeline, nil
}

func (l *line) Send(message []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var e struct {
		Type string
		Item struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(message, &e); err != nil {
		return err
	}
	text := e.Type
	for _, c := range e.Item.Content {
		text += " " + c.Text
	}
	l.sent = append(l.sent, text)
	return nil
}

func (l *line) SetMuted(bool)                                   {}
func (l *line) SetMicrophone(_ context.Context, _ string) error { return l.mic }
func (l *line) SetSpeaker(_ context.Context, _ string) error    { return nil }
func (l *line) Antiphon() bool                                  { return true }
func (l *line) Close() error                                    { return nil }
func (l *line) tell(e sdk.PeerEvent)                            { l.peer()(e) }
func (l *line) server(event string)                             { l.tell(sdk.Message{Data: []byte(event)}) }

func (l *line) peer() func(sdk.PeerEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sink
}

func (l *line) calls() []sdk.CallConfig {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]sdk.CallConfig(nil), l.dialed...)
}

func (l *line) messages() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.sent...)
}

func (l *line) questions() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

func (l *line) loads(state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pipeline = sdk.Pipeline{Known: true, Name: "embedded", Components: []sdk.Component{{Stage: "model", State: state}}}
}

// desk is a client with its fake dialer and clock, and the last snapshot that it has shown.
type desk struct {
	*gomega.WithT

	client *Client
	line   *line
	clock  *clock
	mu     sync.Mutex
	last   Snapshot
	keys   []string
}

func newDesk(t *testing.T, start *Problem) *desk {
	t.Helper()
	d := newScreen(t, start)
	d.client.Start(d.client.show)
	return d
}

// newScreen makes a desk whose client gets its snapshots from the test.
func newScreen(t *testing.T, start *Problem) *desk {
	t.Helper()
	d := &desk{WithT: gomega.NewWithT(t), line: &line{}, clock: &clock{}}
	d.line.loads("ready")
	client, err := NewClient(ClientOptions{
		Dialer: d.line, Clock: d.clock, SetKey: func(key string) { d.keys = append(d.keys, key) }, Start: start,
	})
	d.Expect(err).NotTo(gomega.HaveOccurred())
	d.client = client
	client.show = func(s Snapshot) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.last = s
	}
	return d
}

func (d *desk) shown() Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

func (d *desk) phase() Phase { return d.shown().Phase }

func (d *desk) problem() ProblemKind {
	if p := d.shown().Problem; p != nil {
		return p.Kind
	}
	return ""
}

const sessionCreated = `{"type":"session.created","event_id":"e1","session":{"type":"realtime","id":"s1","model":"m"}}`

// connected places a call and lets the server create its session.
func (d *desk) connected() {
	d.client.Talk()
	d.answer()
	d.Eventually(d.phase).Should(gomega.Equal(PhaseListening))
}

// answer sends the server's first events.
func (d *desk) answer() {
	d.Eventually(d.line.peer).ShouldNot(gomega.BeNil())
	d.line.tell(sdk.PeerOpened{})
	d.line.server(sessionCreated)
}

func TestTalkPlacesACallAndEndEndsIt(t *testing.T) {
	d := newDesk(t, nil)
	d.Eventually(d.phase).Should(gomega.Equal(PhaseIdle))
	d.connected()
	d.Expect(d.line.calls()).To(gomega.HaveLen(1))
	d.Expect(d.line.calls()[0].NoMicrophone).To(gomega.BeFalse())
	d.client.End()
	d.Eventually(d.phase).Should(gomega.Equal(PhaseIdle))
}

func TestAMessagePlacesACallWithoutAMicrophone(t *testing.T) {
	d := newDesk(t, nil)
	d.client.Say("hello")
	d.Eventually(d.line.calls).Should(gomega.HaveLen(1))
	d.Expect(d.line.calls()[0].NoMicrophone).To(gomega.BeTrue())
	d.client.Say("and more")
	d.answer()
	d.Eventually(d.line.messages).Should(gomega.ContainElements("conversation.item.create hello", "conversation.item.create and more"))
	d.Expect(d.line.calls()).To(gomega.HaveLen(1))
}

func TestMessagesThatWaitAreLimitedAndEndWithTheCall(t *testing.T) {
	d := newDesk(t, nil)
	for range 3 * maxUnsent {
		d.client.Say("again")
	}
	d.Expect(d.client.unsent).To(gomega.HaveLen(maxUnsent))
	d.client.End()
	d.Expect(d.client.unsent).To(gomega.BeEmpty())
}

func TestAnInterruptionIsShownForAMoment(t *testing.T) {
	d := newScreen(t, nil)
	d.client.changed(sdk.Snapshot{State: sdk.AgentSpeaking, Transcript: []sdk.Entry{{ItemID: "a", Role: sdk.Agent, Live: true}}})
	d.Expect(d.phase()).To(gomega.Equal(PhaseSpeaking))

	cut := []sdk.Entry{{ItemID: "a", Role: sdk.Agent, Text: "One,", Interrupted: true}}
	d.client.changed(sdk.Snapshot{State: sdk.UserSpeaking, Transcript: cut})
	d.Expect(d.phase()).To(gomega.Equal(PhaseInterrupted))
	d.clock.pass(cutShown - time.Millisecond)
	d.Expect(d.phase()).To(gomega.Equal(PhaseInterrupted))
	d.clock.pass(time.Millisecond)
	d.Expect(d.phase()).To(gomega.Equal(PhaseHearing))

	d.client.changed(sdk.Snapshot{State: sdk.Listening, Transcript: cut})
	d.Expect(d.phase()).To(gomega.Equal(PhaseListening), "the same cut is not shown again")
}

func TestAnAnswerReplacesTheInterruptedPhase(t *testing.T) {
	d := newScreen(t, nil)
	d.client.changed(sdk.Snapshot{State: sdk.Listening, Transcript: []sdk.Entry{{ItemID: "a", Role: sdk.Agent, Interrupted: true}}})
	d.Expect(d.phase()).To(gomega.Equal(PhaseInterrupted))
	d.client.changed(sdk.Snapshot{State: sdk.Thinking, Transcript: []sdk.Entry{{ItemID: "a", Role: sdk.Agent, Interrupted: true}}})
	d.Expect(d.phase()).To(gomega.Equal(PhaseThinking))
}

func TestTheLastLatencyStaysUntilTheNext(t *testing.T) {
	d := newScreen(t, nil)
	turn := &sdk.TurnMetrics{ItemID: "u", FirstSound: 130 * time.Millisecond}
	d.client.changed(sdk.Snapshot{State: sdk.Listening, LastTurn: turn})
	d.Expect(d.shown().Latency.Total).To(gomega.Equal(130))
	d.client.changed(sdk.Snapshot{State: sdk.AgentSpeaking, LastTurn: &sdk.TurnMetrics{ItemID: "v", FirstSound: time.Millisecond}})
	d.Expect(d.shown().Latency.Total).To(gomega.Equal(130))
	d.client.changed(sdk.Snapshot{State: sdk.Connecting})
	d.Expect(d.shown().Latency.Total).To(gomega.BeZero(), "a new call begins")
}

func TestThePipelineIsAskedForUntilItIsWhole(t *testing.T) {
	d := newDesk(t, nil)
	d.Eventually(d.shown).Should(gomega.HaveField("Pipeline.Components", gomega.HaveLen(1)))
	d.Eventually(d.settled).Should(gomega.BeTrue())
	d.Expect(d.line.questions()).To(gomega.Equal(1), "nothing is left to ask")

	for state, pause := range map[string]time.Duration{"loading": pollLoading, "missing": pollTrouble} {
		d.line.loads(state)
		before := d.line.questions()
		d.client.poll()
		d.Eventually(d.line.questions).Should(gomega.Equal(before + 1))
		d.Eventually(d.waits(pause)).Should(gomega.BeTrue(), state)
		d.line.loads("ready")
		d.clock.pass(pause)
		d.Eventually(d.line.questions).Should(gomega.Equal(before + 2))
		d.Eventually(d.shown).Should(gomega.HaveField("Pipeline.Components", gomega.ConsistOf(gomega.HaveField("State", ComponentReady))))
		d.Eventually(d.settled).Should(gomega.BeTrue())
	}
}

// waits reports whether the client has set a timer for this time from now.
func (d *desk) waits(pause time.Duration) func() bool {
	return func() bool {
		d.clock.mu.Lock()
		defer d.clock.mu.Unlock()
		for _, t := range d.clock.timers {
			if t.at == d.clock.now+pause {
				return true
			}
		}
		return false
	}
}

func (d *desk) settled() bool {
	d.client.mu.Lock()
	defer d.client.mu.Unlock()
	return !d.client.asking && d.client.unask == nil
}

func TestThePagesOwnProblemIsShownUntilTheCall(t *testing.T) {
	insecure := ProblemOf(problemInsecure, "")
	d := newDesk(t, &insecure)
	d.Eventually(d.problem).Should(gomega.Equal(problemInsecure))
	d.client.Dismiss()
	d.Expect(d.problem()).To(gomega.BeEmpty())
}

func TestAMicrophoneProblemCanBeDismissed(t *testing.T) {
	d := newDesk(t, nil)
	d.connected()
	d.line.tell(sdk.MicrophoneFailed{Err: &sdk.Error{Kind: sdk.ErrPermission}})
	d.Eventually(d.problem).Should(gomega.Equal(problemPermission))
	d.Expect(d.shown().TextOnly).To(gomega.BeTrue())
	d.client.Dismiss()
	d.Eventually(d.problem).Should(gomega.BeEmpty())

	d.line.mic = &sdk.Error{Kind: sdk.ErrPermission}
	d.client.RetryMicrophone()
	d.Eventually(d.problem).Should(gomega.Equal(problemPermission), "it was tried again and refused again")
}

func TestAKeyIsPassedOnAndTheCallPlaced(t *testing.T) {
	d := newDesk(t, nil)
	d.client.UseKey("secret")
	d.Expect(d.keys).To(gomega.Equal([]string{"secret"}))
	d.Eventually(d.line.calls).Should(gomega.HaveLen(1))
}

// Only what has changed goes to the server, and push-to-talk closes the microphone.
func TestSettings(t *testing.T) {
	d := newDesk(t, nil)
	words := Settings{Turns: turnsByWords, Eagerness: "low", DuckBy: 6}
	p := words.patch(&Settings{Voice: "ash"}, nil)
	d.Expect(*p.Voice).To(gomega.BeEmpty())
	d.Expect(*p.DuckBy).To(gomega.BeEquivalentTo(6))
	d.Expect(*p.TurnDetection).To(gomega.Equal(sdk.TurnDetection{Semantic: true, Eagerness: "low"}))
	d.Expect(p.Language == nil && p.Instructions == nil && p.NoiseReduction == nil).To(gomega.BeTrue())
	server := &sdk.TurnDetection{Semantic: true}
	d.Expect((&Settings{}).patch(&words, server).TurnDetection).To(gomega.BeIdenticalTo(server))

	d.client.Use(Settings{Turns: turnsByHand})
	d.Eventually(d.shown).Should(gomega.And(gomega.HaveField("ByHand", true), gomega.HaveField("Muted", true)))
	d.client.Use(Settings{})
	d.Eventually(d.shown).Should(gomega.And(gomega.HaveField("ByHand", false), gomega.HaveField("Muted", false)))
}
