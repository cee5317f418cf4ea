package sdk

// A scripted dialer for tests of reconnecting: one plan for each call says what its peer and its server do.

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// exchange is a dialer. Each call follows one plan of the test, in order; all further calls follow the last plan.
type exchange struct {
	plans []plan

	mu     sync.Mutex
	dialed []CallConfig
	at     []time.Duration
	begun  time.Time
	peers  []*exchangePeer
	gone   string // the token of a conversation that no server has any more: a client that comes with it again is turned away
}

// plan says how one call goes.
type plan struct {
	err     error // the error that Dial returns
	never   bool  // Dial does not return before its ctx ends
	mute    bool  // the peer reports nothing, not even that it has opened
	token   string
	resumed bool
	seen    string
	tells   []PeerEvent // events that the peer reports after its opening
	sendErr error
	restart func(ctx context.Context) error // the peer's Restart; nil: the peer is no Restarter
	lost    func() bool                     // the peer's Lost; nil: the server has the call
	player  bool
	sound   bool // it takes over the sound that the former peer had not played
	ducks   bool // the peer is a Ducker, so the session predicts barge-in
}

// exchangePeer is one peer of an exchange. It plays the server as its plan says.
type exchangePeer struct {
	plan
	sink  func(PeerEvent)
	muted atomic.Bool

	mu     sync.Mutex
	sent   []string
	closed int
}

func (x *exchange) Dial(ctx context.Context, c CallConfig, sink func(PeerEvent)) (Peer, error) {
	x.mu.Lock()
	p := x.plans[min(len(x.dialed), len(x.plans)-1)]
	x.dialed = append(x.dialed, c)
	x.at = append(x.at, time.Since(x.begun))
	l := &exchangePeer{plan: p, sink: sink}
	if p.err == nil && !p.never {
		x.peers = append(x.peers, l)
	}
	if x.gone != "" && c.Resume.Token == x.gone {
		p.err = &RefusedError{Status: 403}
	} else if refused, is := errors.AsType[*RefusedError](p.err); is && slices.Contains([]int{400, 404, 410}, refused.Status) {
		x.gone = c.Resume.Token
	}
	x.mu.Unlock()
	if p.never {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if p.err != nil {
		return nil, p.err
	}
	if !p.mute {
		sink(PeerOpened{})
		if !p.resumed {
			session := wire.DefaultSession()
			session.ID = "sess_" + strconv.Itoa(len(x.peers))
			sink(message(&wire.SessionCreated{EventID: "created", Session: session}))
		}
		for _, e := range p.tells {
			sink(e)
		}
	}
	switch {
	case p.restart != nil:
		return restartable{l}, nil
	case p.player:
		return &playingPeer{exchangePeer: l}, nil
	case p.ducks:
		return duckingPeer{l}, nil
	}
	return l, nil
}

// TimeZone implements TimeZoner.
func (*exchange) TimeZone() string { return "Europe/Oslo" }

func message(e wire.ServerEvent) Message { return Message{Data: wire.AppendServer(nil, e)} }

func (l *exchangePeer) Send(text []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sendErr != nil {
		return l.sendErr
	}
	e, err := wire.DecodeClient(text)
	if err != nil {
		return err
	}
	said := e.ID() + " " + e.Type()
	if c, is := e.(*wire.ConversationItemCreate); is {
		said += " " + c.Item.Role + ": " + c.Item.Content[0].Text
	}
	if c, is := e.(*wire.AntiphonHello); is {
		said += " " + c.TimeZone
	}
	if c, is := e.(*wire.AntiphonRunFollow); is {
		said += " " + c.RunID
	}
	if c, is := e.(*wire.AntiphonBargeInCandidate); is {
		said += " " + strconv.Itoa(c.Candidate)
	}
	l.sent = append(l.sent, said)
	return nil
}

func (l *exchangePeer) SetMuted(muted bool)                         { l.muted.Store(muted) }
func (l *exchangePeer) SetMicrophone(context.Context, string) error { return nil }
func (l *exchangePeer) Antiphon() bool                              { return l.token != "" }
func (l *exchangePeer) Resumption() Resumption {
	return Resumption{Token: l.token, Resumed: l.resumed, Seen: l.seen, Sound: l.sound}
}

func (l *exchangePeer) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed++
	return nil
}

func (l *exchangePeer) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed > 0
}

func (l *exchangePeer) got() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.sent...)
}

// restartable is an exchangePeer that is a Restarter.
type restartable struct{ *exchangePeer }

func (r restartable) Restart(ctx context.Context) error { return r.restart(ctx) }

func (r restartable) Lost(context.Context) bool { return r.lost != nil && r.lost() }

// playingPeer is an exchangePeer that is a Player.
type playingPeer struct{ *exchangePeer }

func (*playingPeer) Play(string, string, int, []byte) {}
func (*playingPeer) Finish(string)                    {}
func (*playingPeer) Stop() (PlayedPosition, bool)     { return PlayedPosition{ItemID: "a1", MS: 500}, true }

// line is a session in a call that the first plan of an exchange has connected.
type line struct {
	*Session
	x      *exchange
	g      *gomega.WithT
	states []State
	mu     sync.Mutex
}

// connectedBy makes a session and connects it by the first plan. It has to be called in a synctest bubble.
func connectedBy(t *testing.T, o Options, plans ...plan) *line {
	t.Helper()
	l := &line{g: gomega.NewWithT(t), x: &exchange{plans: plans, begun: time.Now()}}
	o.Dialer = l.x
	var err error
	l.Session, err = New(o)
	l.g.Expect(err).NotTo(gomega.HaveOccurred())
	l.Subscribe(func(s Snapshot) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if n := len(l.states); n == 0 || l.states[n-1] != s.State {
			l.states = append(l.states, s.State)
		}
	})
	l.g.Expect(l.Connect(t.Context())).To(gomega.Succeed())
	synctest.Wait()
	t.Cleanup(func() {
		l.g.Expect(l.Close(context.Background())).To(gomega.Succeed())
		for i, p := range l.x.peers {
			l.g.Expect(p.closed).To(gomega.Equal(1), "connection %d is closed once", i)
		}
	})
	return l
}

// wait lets d pass and then waits until all goroutines are idle.
func (l *line) wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// story returns the states that the session has shown, in order.
func (l *line) story() []State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]State(nil), l.states...)
}

var errTorn = &Error{Kind: ErrServerGone, Cause: errors.New("torn")}

// kept is the plan of a call to a server that keeps the conversation when the connection breaks.
var kept = plan{token: "T"}

func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}
