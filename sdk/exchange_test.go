package sdk

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// exchange is a dialer whose calls go as the test says, one after another; the last goes on for all that follow.
type exchange struct {
	plans []plan

	mu     sync.Mutex
	dialed []CallConfig
	at     []time.Duration
	begun  time.Time
	links  []*link
}

// plan is how one call goes.
type plan struct {
	err     error // of Dial
	never   bool  // Dial does not return before its ctx ends
	mute    bool  // nothing is said on it
	token   string
	resumed bool
	seen    string
	tells   []PeerEvent // behind its opening
	sendErr error
	restart func(ctx context.Context) error // nil: it cannot
	player  bool
	sound   bool // it takes over what was not played
	ducks   bool // its client predicts interruptions
}

// link is one peer of an exchange.
type link struct {
	plan
	sink func(PeerEvent)

	mu     sync.Mutex
	sent   []string
	closed int
}

func (x *exchange) Dial(ctx context.Context, c CallConfig, sink func(PeerEvent)) (Peer, error) {
	x.mu.Lock()
	p := x.plans[min(len(x.dialed), len(x.plans)-1)]
	x.dialed = append(x.dialed, c)
	x.at = append(x.at, time.Since(x.begun))
	l := &link{plan: p, sink: sink}
	if p.err == nil && !p.never {
		x.links = append(x.links, l)
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
			session.ID = "sess_" + strconv.Itoa(len(x.links))
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
		return &playingLink{link: l}, nil
	case p.ducks:
		return duckingLink{l}, nil
	}
	return l, nil
}

func message(e wire.ServerEvent) Message { return Message{Data: wire.AppendServer(nil, e)} }

func (l *link) Send(text []byte) error {
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
	if c, is := e.(*wire.AntiphonBargeInCandidate); is {
		said += " " + strconv.Itoa(c.Candidate)
	}
	l.sent = append(l.sent, said)
	return nil
}

func (l *link) SetMuted(bool)                               {}
func (l *link) SetMicrophone(context.Context, string) error { return nil }
func (l *link) Antiphon() bool                              { return l.token != "" }
func (l *link) Resumption() Resumption {
	return Resumption{Token: l.token, Resumed: l.resumed, Seen: l.seen, Sound: l.sound}
}

func (l *link) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed++
	return nil
}

func (l *link) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed > 0
}

func (l *link) got() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.sent...)
}

// restartable is a link whose peer can look for a new way.
type restartable struct{ *link }

func (r restartable) Restart(ctx context.Context) error { return r.restart(ctx) }

// playingLink is a link whose client plays.
type playingLink struct{ *link }

func (*playingLink) Play(string, string, int, []byte) {}
func (*playingLink) Finish(string)                    {}
func (*playingLink) Stop() (PlayedPosition, bool)     { return PlayedPosition{ItemID: "a1", MS: 500}, true }

// line is a session that stands on the first link of an exchange.
type line struct {
	*Session
	x      *exchange
	g      *gomega.WithT
	states []State
	mu     sync.Mutex
}

// connectedBy connects by the first plan. To be called in a bubble.
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
		for i, p := range l.x.links {
			l.g.Expect(p.closed).To(gomega.Equal(1), "link %d is closed once", i)
		}
	})
	return l
}

// wait lets time pass.
func (l *line) wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// story is what the session was, in order.
func (l *line) story() []State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]State(nil), l.states...)
}

var errTorn = &Error{Kind: ErrServerGone, Cause: errors.New("torn")}

// kept is a link of a server that keeps the conversation.
var kept = plan{token: "T"}

func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}
