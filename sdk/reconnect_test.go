package sdk

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
func (*playingLink) Stop() (Heard, bool)              { return Heard{ItemID: "a1", MS: 500}, true }

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

func TestALostLinkIsRestarted(t *testing.T) {
	bubble(t, "after two seconds, and not before", func(t *testing.T) {
		var l *line
		var asked atomic.Int32
		p := kept
		p.restart = func(context.Context) error {
			asked.Add(1)
			l.x.links[0].sink(PeerRestored{}) // of the old way, or the new: nobody knows
			return nil
		}
		l = connectedBy(t, Options{}, p)
		l.x.links[0].sink(PeerLost{})
		l.wait(time.Second)
		l.x.links[0].sink(PeerRestored{})
		l.wait(5 * time.Second)
		l.g.Expect(asked.Load()).To(gomega.BeZero(), "it came back by itself")
		l.x.links[0].sink(PeerLost{})
		l.wait(restartAfter - time.Millisecond)
		l.g.Expect(asked.Load()).To(gomega.BeZero())
		l.wait(2 * time.Millisecond)
		l.g.Expect(asked.Load()).To(gomega.Equal(int32(1)))
		l.g.Expect(l.story()).To(gomega.Equal([]State{Disconnected, Connecting, Listening, Reconnecting, Listening, Reconnecting, Listening}))
		l.wait(time.Hour)
		l.g.Expect(l.x.dialed).To(gomega.HaveLen(1))
		l.g.Expect(l.Snapshot().Err).NotTo(gomega.HaveOccurred())
	})

	for name, restart := range map[string]func(context.Context) error{
		"the server is gone: the next call is placed at once": func(context.Context) error { return ErrServerGone },
		"it is not answered": func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		},
		"the call has ended there": func(context.Context) error {
			return &RefusedError{Status: 404}
		},
	} {
		bubble(t, name, func(t *testing.T) {
			first := kept
			first.restart = restart
			l := connectedBy(t, Options{}, first, plan{token: "T", resumed: true})
			l.x.links[0].sink(message(&wire.RateLimitsUpdated{EventID: "last"}))
			l.x.links[0].sink(PeerLost{})
			l.wait(restartAfter + restartTime + time.Second)
			l.g.Expect(l.story()).To(gomega.Equal([]State{Disconnected, Connecting, Listening, Reconnecting, Listening}))
			l.g.Expect(l.x.dialed[1].Resume).To(gomega.Equal(Resume{Token: "T", After: "last"}))
			l.g.Expect(l.x.dialed[1].From).NotTo(gomega.BeNil())
			l.g.Expect(l.Snapshot().Err).NotTo(gomega.HaveOccurred())
		})
	}

	bubble(t, "the server knows no restart: it comes back by itself, or not", func(t *testing.T) {
		p := kept
		p.restart = func(context.Context) error { return ErrUnavailable }
		l := connectedBy(t, Options{}, p)
		l.x.links[0].sink(PeerLost{})
		l.wait(29 * time.Second)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Reconnecting))
		l.wait(2 * time.Second)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Failed))
		l.g.Expect(l.Snapshot().Err).To(gomega.MatchError(ErrServerGone))
		l.g.Expect(l.x.dialed).To(gomega.HaveLen(1))
	})

	bubble(t, "a server that is gone is noticed within five seconds", func(t *testing.T) {
		p := kept
		p.restart = func(context.Context) error {
			<-time.After(3 * time.Second) // as long as it may ask
			return context.DeadlineExceeded
		}
		l := connectedBy(t, Options{}, p, plan{err: errTorn})
		l.x.links[0].sink(PeerLost{})
		l.wait(5*time.Second + time.Millisecond)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Reconnecting))
		l.g.Expect(l.Snapshot().Err).To(gomega.MatchError(ErrServerGone))
	})

	bubble(t, "a call that is hung up meanwhile", func(t *testing.T) {
		p := kept
		p.restart = func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		l := connectedBy(t, Options{}, p)
		l.x.links[0].sink(PeerLost{})
		l.wait(restartAfter + time.Second)
		l.g.Expect(l.Close(t.Context())).To(gomega.Succeed())
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Disconnected))
	})
}

func TestABrokenLinkIsFollowedByAnother(t *testing.T) {
	bubble(t, "that goes on with the conversation", func(t *testing.T) {
		missed := message(&wire.ResponseDone{EventID: "m2", Response: wire.Response{ID: "r1", Status: "completed"}})
		l := connectedBy(t, Options{}, kept, plan{token: "T", resumed: true, seen: "client_1", tells: []PeerEvent{missed}})
		first := l.x.links[0]
		first.sink(message(&wire.ResponseCreated{EventID: "m1", Response: wire.Response{ID: "r1", Status: "in_progress"}}))
		l.g.Expect(l.SendText("before")).To(gomega.Succeed())
		first.sink(PeerBroken{Err: errTorn})
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Reconnecting))
		l.g.Expect(l.SendText("meanwhile")).To(gomega.Succeed())
		l.g.Expect(l.Commit()).To(gomega.MatchError(ErrReconnecting))
		first.sink(message(&wire.ResponseCreated{EventID: "late"}))
		l.wait(firstPause)
		l.g.Expect(l.x.dialed).To(gomega.HaveLen(2))
		l.g.Expect(l.x.dialed[1].Resume.Token).To(gomega.Equal("T"))
		l.g.Expect(first.isClosed()).To(gomega.BeTrue())

		sent := l.x.links[1].got()
		// hello was taken, and nothing that came after it.
		l.g.Expect(sent[:2]).To(gomega.Equal([]string{"client_2 session.update", "client_3 response.cancel"}))
		l.g.Expect(strings.Join(sent, ", ")).To(gomega.MatchRegexp(`user: before.*response.create.*user: meanwhile.*response.create`))
		l.g.Expect(sent).NotTo(gomega.ContainElement(gomega.ContainSubstring("antiphon.hello")))
		now := l.Snapshot()
		l.g.Expect(now.SessionID).To(gomega.Equal("sess_1"))
		l.g.Expect(now.Transcript).To(gomega.HaveLen(2))
		l.g.Expect(now.Err).NotTo(gomega.HaveOccurred())
	})

	bubble(t, "after pauses that grow, until the server is there again", func(t *testing.T) {
		gone := plan{err: errTorn}
		l := connectedBy(t, Options{Limits: Limits{Lost: time.Minute}}, kept, gone, gone, gone, gone, gone, gone, gone, gone, plan{token: "T", resumed: true})
		l.x.links[0].sink(PeerBroken{})
		l.wait(8 * time.Second)
		l.g.Expect(l.Snapshot().Err).To(gomega.MatchError(ErrServerGone), "it is shown what is in the way")
		l.wait(20 * time.Second)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
		l.g.Expect(l.Snapshot().Err).NotTo(gomega.HaveOccurred())
		pause := firstPause
		for i := 1; i < len(l.x.at); i++ {
			l.g.Expect(l.x.at[i] - l.x.at[i-1]).To(gomega.And(gomega.BeNumerically(">=", pause/2), gomega.BeNumerically("<=", pause+time.Millisecond)))
			pause = min(2*pause, longestPause)
		}
	})

	bubble(t, "and another, when that breaks too", func(t *testing.T) {
		l := connectedBy(t, Options{}, kept,
			plan{token: "T", resumed: true, mute: true, tells: nil}, plan{token: "T", resumed: true})
		l.x.links[0].sink(PeerBroken{})
		l.wait(time.Second)
		l.x.links[1].sink(PeerBroken{Err: errTorn})
		l.wait(time.Second)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
		l.g.Expect(l.x.links).To(gomega.HaveLen(3))
	})

	for name, second := range map[string]plan{
		"a dial that never returns":      {never: true},
		"a link that never opens":        {token: "T", resumed: true, mute: true},
		"a server that is full":          {err: &RefusedError{Status: 429}},
		"a server that stops":            {err: &RefusedError{Status: 503}},
		"a session that is never made":   {token: "", mute: true},
		"another one is resuming it":     {err: &RefusedError{Status: 409}},
		"a server that says nothing yet": {err: &Error{Kind: ErrServerSilent}},
	} {
		bubble(t, "never stuck: "+name, func(t *testing.T) {
			l := connectedBy(t, Options{}, kept, second, plan{token: "T", resumed: true})
			l.x.links[0].sink(PeerBroken{})
			l.wait(redialTime + 2*time.Second)
			l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
		})
		bubble(t, "never stuck, for ever: "+name, func(t *testing.T) {
			l := connectedBy(t, Options{}, kept, second)
			l.x.links[0].sink(PeerBroken{})
			l.g.Expect(l.SendText("anybody?")).To(gomega.Succeed())
			l.wait(31 * time.Second)
			now := l.Snapshot()
			l.g.Expect(now.State).To(gomega.Equal(Failed))
			l.g.Expect(now.Err).To(gomega.HaveOccurred())
			l.g.Expect(now.Transcript[0].Failed).To(gomega.BeTrue())
			l.g.Expect(now.Transcript[0].Note).To(gomega.ContainSubstring("not delivered"))
		})
	}

	for name, row := range map[string]struct{ err, want error }{
		"the key does not hold any more":  {&RefusedError{Status: 401}, ErrRefused},
		"the browser cannot place a call": {ErrUnsupported, ErrUnsupported},
	} {
		bubble(t, "not: "+name, func(t *testing.T) {
			l := connectedBy(t, Options{}, kept, plan{err: row.err})
			l.x.links[0].sink(PeerBroken{})
			l.wait(firstPause)
			l.g.Expect(l.Snapshot().State).To(gomega.Equal(Failed))
			l.g.Expect(l.Snapshot().Err).To(gomega.MatchError(row.want))
		})
	}

	bubble(t, "not: the server has ended the call", func(t *testing.T) {
		l := connectedBy(t, Options{}, kept)
		l.x.links[0].sink(PeerBroken{})
		l.x.links[0].sink(PeerEnded{})
		l.wait(time.Minute)
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Failed))
		l.g.Expect(l.x.dialed).To(gomega.HaveLen(1))
	})

	bubble(t, "not: the call never stood", func(t *testing.T) {
		l := &line{g: gomega.NewWithT(t), x: &exchange{plans: []plan{{mute: true}}}}
		s, err := New(Options{Dialer: l.x})
		l.g.Expect(err).NotTo(gomega.HaveOccurred())
		connected := make(chan error, 1)
		go func() { connected <- s.Connect(t.Context()) }()
		synctest.Wait()
		l.x.links[0].sink(PeerBroken{Err: errTorn})
		l.g.Expect(<-connected).To(gomega.MatchError(ErrServerGone))
		l.g.Expect(s.Close(t.Context())).To(gomega.Succeed())
	})

	bubble(t, "a send that finds it broken is not lost", func(t *testing.T) {
		broken := kept
		broken.sendErr = nil
		l := connectedBy(t, Options{}, broken, plan{token: "T", resumed: true, seen: "client_1"})
		first := l.x.links[0]
		first.mu.Lock()
		first.sendErr = ErrServerGone
		first.mu.Unlock()
		l.g.Expect(l.SendText("hello?")).To(gomega.Succeed())
		l.wait(time.Second)
		l.g.Expect(strings.Join(l.x.links[1].got(), ", ")).To(gomega.MatchRegexp(`user: hello\?.*response.create`))
	})

	bubble(t, "the sound that the client has goes on meanwhile", func(t *testing.T) {
		first := kept
		first.player = true
		l := connectedBy(t, Options{}, first, plan{err: errTorn}, plan{token: "T", resumed: true, player: true})
		l.x.links[0].sink(PlaybackStarted{ResponseID: "r"})
		l.x.links[0].sink(PeerBroken{})
		l.wait(200 * time.Millisecond)
		l.g.Expect(l.x.links[0].isClosed()).To(gomega.BeFalse())
		l.x.links[0].sink(PlaybackStopped{ResponseID: "r"})
		l.wait(time.Second)
		l.g.Expect(l.x.dialed[1].From).To(gomega.BeAssignableToTypeOf(&playingLink{}))
		l.g.Expect(l.x.links[0].isClosed()).To(gomega.BeTrue())
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
	})
}

func TestSoundThatWasNotPlayed(t *testing.T) {
	for name, takes := range map[string]bool{"goes on": true, "ends with what was heard": false} {
		bubble(t, name, func(t *testing.T) {
			first := kept
			first.player = true
			l := connectedBy(t, Options{}, first, plan{token: "T", resumed: true, seen: "client_1", player: true, sound: takes})
			l.x.links[0].sink(PlaybackStarted{ResponseID: "r"})
			l.x.links[0].sink(PeerBroken{})
			l.wait(time.Second)
			sent := strings.Join(l.x.links[1].got(), ", ")
			if takes {
				l.g.Expect(sent).NotTo(gomega.ContainSubstring("truncate"))
				l.g.Expect(l.Snapshot().State).To(gomega.Equal(AgentSpeaking))
			} else {
				l.g.Expect(sent).To(gomega.ContainSubstring("conversation.item.truncate"))
				l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
			}
		})
	}
}

// A page reads no headers of a WebSocket: the token comes with the answer to its hello.
func TestATokenThatComesLater(t *testing.T) {
	bubble(t, "resumes, too", func(t *testing.T) {
		l := connectedBy(t, Options{}, plan{}, plan{token: "T", resumed: true})
		l.x.links[0].sink(message(&wire.AntiphonAck{EventID: "a", Acknowledges: "client_1", Resume: "T"}))
		l.x.links[0].sink(PeerBroken{})
		l.wait(time.Second)
		l.g.Expect(l.x.dialed[1].Resume).To(gomega.Equal(Resume{Token: "T", After: "a"}))
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
	})
}

func TestAConversationThatIsLostBeginsAnew(t *testing.T) {
	told := func(l *link) string {
		var items []string
		for _, s := range l.got() {
			if _, item, is := strings.Cut(s, "conversation.item.create "); is {
				items = append(items, item)
			}
		}
		return strings.Join(items, "; ")
	}
	for name, plans := range map[string][]plan{
		"the server has restarted":         {kept, {err: &RefusedError{Status: 404}}, {token: "U"}},
		"the server keeps too little":      {kept, {err: &RefusedError{Status: 410}}, {token: "U"}},
		"a server of the plain protocol":   {{}, {}},
		"one that takes another one's way": {kept, {token: "U"}},
	} {
		bubble(t, name, func(t *testing.T) {
			l := connectedBy(t, Options{Instructions: "Be brief."}, plans...)
			first := l.x.links[0]
			user, agent := "u1", "a1"
			for _, e := range []wire.ServerEvent{
				&wire.InputAudioBufferSpeechStarted{EventID: "1", ItemID: user},
				&wire.ConversationItemInputAudioTranscriptionCompleted{EventID: "2", ItemID: user, Transcript: "Tell me a story."},
				&wire.ResponseCreated{EventID: "3", Response: wire.Response{ID: "r1", Status: "in_progress"}},
				&wire.ResponseOutputItemAdded{EventID: "4", ResponseID: "r1", Item: wire.Item{ID: agent, Type: wire.ItemMessage, Role: "assistant"}},
				&wire.ResponseOutputAudioTranscriptDelta{EventID: "5", ResponseID: "r1", ItemID: agent, Delta: "Once upon a time"},
			} {
				first.sink(message(e))
			}
			first.sink(PeerBroken{})
			l.g.Expect(l.SendText("Go on.")).To(gomega.Succeed())
			l.wait(2 * time.Second)
			l.g.Expect(l.x.links).To(gomega.HaveLen(2))
			second := l.x.links[1]
			l.g.Expect(told(second)).To(gomega.Equal("user: Tell me a story.; assistant: Once upon a time; user: Go on."))
			sent := strings.Join(second.got(), ", ")
			l.g.Expect(sent).To(gomega.MatchRegexp(`session.update.*Tell me.*Go on\., client_\d+ response.create$`))
			now := l.Snapshot()
			l.g.Expect(now.SessionID).To(gomega.Equal("sess_2"))
			l.g.Expect(now.Err).To(gomega.MatchError(ErrBegunAnew))
			l.g.Expect(now.Transcript).To(gomega.HaveLen(3))
			l.g.Expect(now.Transcript[1].Note).To(gomega.ContainSubstring(lossNote))
			l.g.Expect(now.Transcript[2].Note).To(gomega.BeEmpty())

			// The server's word of the old items changes neither their place nor their words.
			for i, id := range []string{user, agent} {
				previous := []*string{nil, &user}[i]
				second.sink(message(&wire.ConversationItemAdded{EventID: "x", PreviousItemID: previous, Item: wire.Item{
					ID: id, Type: wire.ItemMessage, Role: []string{"user", "assistant"}[i],
				}}))
			}
			l.g.Expect(l.Snapshot().Transcript).To(gomega.Equal(now.Transcript))
			second.sink(message(&wire.ResponseCreated{EventID: "y", Response: wire.Response{ID: "r2", Status: "in_progress"}}))
			l.g.Expect(l.Snapshot().State).To(gomega.Equal(Thinking))
			l.g.Expect(l.Snapshot().Err).NotTo(gomega.HaveOccurred())
		})
	}

	bubble(t, "a message that had not arrived is sent again", func(t *testing.T) {
		l := connectedBy(t, Options{}, plan{}, plan{})
		l.g.Expect(l.SendText("taken")).To(gomega.Succeed())
		id := l.Snapshot().Transcript[0].ItemID
		l.x.links[0].sink(message(&wire.ConversationItemAdded{EventID: "1", Item: wire.Item{
			ID: id, Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputText, Text: "taken"}},
		}}))
		l.g.Expect(l.SendText("lost")).To(gomega.Succeed())
		l.x.links[0].sink(PeerBroken{})
		l.wait(time.Second)
		l.g.Expect(told(l.x.links[1])).To(gomega.Equal("user: taken; user: lost"))
		sent := l.x.links[1].got()
		l.g.Expect(sent[len(sent)-1]).To(gomega.HaveSuffix("response.create"))
	})

	bubble(t, "what a tool says for the old one is nobody's", func(t *testing.T) {
		answer := make(chan string)
		run := func(context.Context, string) (string, error) { return <-answer, nil }
		l := connectedBy(t, Options{Tools: []Tool{{Name: "weather", Run: run}}}, plan{}, plan{})
		call := wire.Item{ID: "f1", Type: wire.ItemFunctionCall, CallID: "c1", Name: "weather", Arguments: "{}", Status: "completed"}
		l.x.links[0].sink(message(&wire.ResponseOutputItemDone{EventID: "1", ResponseID: "r", Item: call}))
		l.x.links[0].sink(PeerBroken{})
		l.wait(time.Second)
		answer <- "rain"
		synctest.Wait()
		l.g.Expect(strings.Join(l.x.links[1].got(), ", ")).NotTo(gomega.ContainSubstring("conversation.item.create"))
		l.g.Expect(l.Snapshot().State).To(gomega.Equal(Listening))
	})
}

func TestMessagesThatWaitAreBounded(t *testing.T) {
	bubble(t, "what is too much is refused, and said", func(t *testing.T) {
		l := connectedBy(t, Options{}, kept, plan{err: errTorn})
		l.x.links[0].sink(PeerBroken{})
		for range maxWaiting {
			l.g.Expect(l.SendText("hello?")).To(gomega.Succeed())
		}
		now := l.Snapshot()
		l.g.Expect(now.State).To(gomega.Equal(Reconnecting), "it is no reason to give up")
		l.g.Expect(now.Err).To(gomega.MatchError(ErrReconnecting))
		waiting, refused := 0, 0
		for _, e := range now.Transcript {
			if e.Failed {
				refused++
			} else {
				waiting++
			}
		}
		l.g.Expect(waiting).To(gomega.Equal(maxWaiting / 4)) // a message and the request for its answer
		l.g.Expect(refused).To(gomega.Equal(maxWaiting - waiting))
	})
}

func TestOutbox(t *testing.T) {
	g := gomega.NewWithT(t)
	var o outbox
	for i := range maxSent + 10 {
		o.note(letter{id: strconv.Itoa(i), text: []byte("x")})
	}
	g.Expect(o.sent).To(gomega.HaveLen(maxSent))
	g.Expect(o.sentBytes).To(gomega.Equal(maxSent))
	o.note(letter{id: "big", text: make([]byte, maxSentBytes)})
	g.Expect(o.sent).To(gomega.HaveLen(1))
	g.Expect(o.wait(letter{id: "late", text: []byte("y")})).To(gomega.BeTrue())
	g.Expect(o.wait(letter{text: make([]byte, maxWaitingBytes)})).To(gomega.BeFalse())
	o.resume("of a time before")
	all := o.take()
	g.Expect(all).To(gomega.HaveLen(2))
	g.Expect(all[0].id).To(gomega.Equal("big"))
	g.Expect(all[1].id).To(gomega.Equal("late"))
	g.Expect(o.take()).To(gomega.BeEmpty())
}
