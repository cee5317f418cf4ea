package sdk

// The methods of a session: options, errors, dialling, tools, limits, subscribers.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// quiet returns a peer that writes nothing down.
func quiet() *fakePeer {
	return &fakePeer{note: func(string) {}, noteClosed: func() {}, antiphon: true}
}

// onCall makes a session that is connected. It has to be called in a synctest bubble.
func onCall(t *testing.T, o Options) (*Session, *fakePeer) {
	t.Helper()
	peer := quiet()
	o.Dialer = &fakeDialer{peer: peer}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	connected := make(chan error, 1)
	go func() { connected <- s.Connect(t.Context()) }()
	synctest.Wait()
	tell(peer, &wire.SessionCreated{EventID: "e", Session: wire.DefaultSession()})
	if err := <-connected; err != nil {
		t.Fatal(err)
	}
	return s, peer
}

func tell(p *fakePeer, e wire.ServerEvent) {
	p.sink(Message{Data: wire.AppendServer(nil, e)})
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	run := func(context.Context, string) (string, error) { return "", nil }
	for want, o := range map[string]Options{
		"Dialer is nil":         {},
		"no Run":                {Dialer: &fakeDialer{}, Tools: []Tool{{Name: "a"}}},
		"two tools":             {Dialer: &fakeDialer{}, Tools: []Tool{{Name: "a", Run: run}, {Name: "a", Run: run}}},
		`tool name "no spaces"`: {Dialer: &fakeDialer{}, Tools: []Tool{{Name: "no spaces", Run: run}}},
		`tool name ""`:          {Dialer: &fakeDialer{}, Tools: []Tool{{Run: run}}},
		"no JSON object":        {Dialer: &fakeDialer{}, Tools: []Tool{{Name: "a", Run: run, Parameters: []byte(`[]`)}}},
		"more than 128 tools":   {Dialer: &fakeDialer{}, Tools: make([]Tool, 129)},
	} {
		t.Run(want, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := New(o)
			g.Expect(err).To(gomega.MatchError(ErrInvalid))
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want)))
		})
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for _, err := range []error{
		ErrNoMicrophone, ErrPermission, ErrMicrophoneBusy, ErrUnsupported, ErrServerGone, ErrServerSilent, ErrOverrun, ErrNotConnected, ErrConnected,
		&RefusedError{Status: 401}, &RefusedError{Status: 404}, &RefusedError{Status: 503},
	} {
		gomega.NewWithT(t).Expect(err.Error()).To(gomega.MatchRegexp(`: .|\(.*\)`), "what is wrong, then what to do")
	}
}

func TestErrorsKeepTheirCause(t *testing.T) {
	g := gomega.NewWithT(t)
	cause := errors.New("cause")
	err := fmt.Errorf("wrapped: %w", &Error{Kind: ErrServerGone, Detail: "detail", Cause: cause})
	g.Expect(err).To(gomega.MatchError(ErrServerGone))
	g.Expect(err).To(gomega.MatchError(cause))
	g.Expect(err.Error()).To(gomega.HaveSuffix("(detail): cause"))
	g.Expect(&RefusedError{Status: 500}).To(gomega.MatchError(ErrRefused))
	for _, e := range []*ServerError{{Message: "m", Code: "c"}, {Code: "c"}, {Type: "t"}, {}} {
		g.Expect(e.Error()).NotTo(gomega.BeEmpty())
	}
}

func TestNames(t *testing.T) {
	g := gomega.NewWithT(t)
	for s := Disconnected; s <= Failed; s++ {
		g.Expect(s.String()).NotTo(gomega.Equal("unknown"))
	}
	for r := User; r <= ToolUse; r++ {
		g.Expect(r.String()).NotTo(gomega.Equal("unknown"))
	}
	g.Expect((Failed + 1).String()).To(gomega.Equal("unknown"))
	g.Expect((ToolUse + 1).String()).To(gomega.Equal("unknown"))
	g.Expect((Failed + 1).OnCall()).To(gomega.BeFalse())
}

func TestADialThatFailsIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		refused := &RefusedError{Status: 503, Message: "full"}
		s, err := New(Options{Dialer: &fakeDialer{peer: quiet(), err: refused}})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(s.Connect(t.Context())).To(gomega.MatchError(refused))
		g.Expect(s.Snapshot().State).To(gomega.Equal(Failed))
		g.Expect(s.Snapshot().Err).To(gomega.MatchError(refused))
	})
}

func TestConnectEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		d := &fakeDialer{peer: quiet(), hold: make(chan struct{})}
		s, err := New(Options{Dialer: d})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		g.Expect(s.Connect(ctx)).To(gomega.MatchError(context.DeadlineExceeded))
		g.Expect(s.Snapshot().State).To(gomega.Equal(Disconnected))
		g.Expect(s.Close(t.Context())).To(gomega.Succeed())
	})
}

// A call is given up while it is dialled. When Dial returns a peer all the same, the session closes the peer.
func TestALatePeerIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		d := &stubbornDialer{fakeDialer: fakeDialer{peer: quiet()}, answer: make(chan struct{})}
		s, err := New(Options{Dialer: d})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		g.Expect(s.Connect(ctx)).To(gomega.MatchError(context.Canceled))
		close(d.answer)
		g.Expect(s.Close(t.Context())).To(gomega.Succeed())
		g.Expect(d.peer.closed).To(gomega.Equal(1))
	})
}

// stubbornDialer is a Dialer that ignores its context.
type stubbornDialer struct {
	fakeDialer
	answer chan struct{}
}

func (d *stubbornDialer) Dial(context.Context, CallConfig, func(PeerEvent)) (Peer, error) {
	<-d.answer
	return d.peer, nil
}

func TestCloseWaitsForTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		release := make(chan struct{})
		s, peer := onCall(t, Options{Tools: []Tool{{Name: "slow", Run: func(context.Context, string) (string, error) {
			<-release
			return "", nil
		}}}})
		tell(peer, called("c1", "slow"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		g.Expect(s.Close(ctx)).To(gomega.MatchError(context.DeadlineExceeded), "the tool does not heed its context")
		close(release)
		g.Expect(s.Close(t.Context())).To(gomega.Succeed())
		g.Expect(peer.closed).To(gomega.Equal(1))
	})
}

func called(id, name string) *wire.ResponseOutputItemDone {
	return &wire.ResponseOutputItemDone{EventID: "e", ResponseID: "r", Item: wire.Item{
		ID: "item_" + id, Type: wire.ItemFunctionCall, Status: "completed", CallID: id, Name: name, Arguments: "{}",
	}}
}

func TestToolsHaveLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		var running, most atomic.Int32
		s, peer := onCall(t, Options{
			Limits: Limits{ToolsAtOnce: 3, ToolTime: time.Second, ToolBytes: 10},
			Tools: []Tool{
				{Name: "slow", Run: func(ctx context.Context, _ string) (string, error) {
					if n := running.Add(1); n > most.Load() {
						most.Store(n)
					}
					defer running.Add(-1)
					<-ctx.Done()
					return "", ctx.Err()
				}},
				{Name: "long", Run: func(context.Context, string) (string, error) { return strings.Repeat("x", 11), nil }},
			},
		})
		for i := range 7 {
			tell(peer, called(fmt.Sprint(i), "slow"))
		}
		tell(peer, called("long", "long"))
		<-time.After(4 * time.Second)
		synctest.Wait()
		g.Expect(most.Load()).To(gomega.Equal(int32(3)))
		g.Expect(running.Load()).To(gomega.BeZero())
		entries := s.Snapshot().Transcript
		g.Expect(entries).To(gomega.HaveLen(8))
		for _, e := range entries {
			g.Expect(e.ToolCall.Done && e.ToolCall.Failed).To(gomega.BeTrue())
		}
		g.Expect(entries[7].ToolCall.Output).To(gomega.ContainSubstring("longer than 10 bytes"))
		g.Expect(s.Close(t.Context())).To(gomega.Succeed())
	})
}

func TestTooMuchAtOnceEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s, peer := onCall(t, Options{Limits: Limits{Queue: 8}})
		hold, held := make(chan struct{}), make(chan struct{})
		var once sync.Once
		cancel := s.Subscribe(func(now Snapshot) {
			if now.State == Thinking {
				once.Do(func() {
					close(held)
					<-hold
				})
			}
		})
		defer cancel()
		go tell(peer, &wire.ResponseCreated{EventID: "e", Response: wire.Response{ID: "r"}})
		<-held
		for range 9 {
			peer.sink(LevelsMeasured{})
			tell(peer, &wire.RateLimitsUpdated{EventID: "e"})
		}
		g.Expect(s.Interrupt()).To(gomega.MatchError(ErrOverrun))
		close(hold)
		synctest.Wait()
		g.Expect(s.Snapshot().State).To(gomega.Equal(Failed))
		g.Expect(s.Snapshot().Err).To(gomega.MatchError(ErrOverrun))
	})
}

func TestTooManyEarlyMessagesEndTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		d := &fakeDialer{peer: quiet(), hold: make(chan struct{})}
		s, err := New(Options{Dialer: d, Limits: Limits{Queue: 8}})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		connected := make(chan error, 1)
		go func() { connected <- s.Connect(t.Context()) }()
		synctest.Wait()
		for range 9 {
			tell(d.peer, &wire.RateLimitsUpdated{EventID: "e"})
		}
		g.Expect(<-connected).To(gomega.MatchError(ErrOverrun))
		g.Expect(s.Close(t.Context())).To(gomega.Succeed())
	})
}

func TestMessagesBeforeThePeerAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		d := &fakeDialer{peer: quiet(), hold: make(chan struct{})}
		s, err := New(Options{Dialer: d})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		connected := make(chan error, 1)
		go func() { connected <- s.Connect(t.Context()) }()
		synctest.Wait()
		tell(d.peer, &wire.SessionCreated{EventID: "e", Session: wire.DefaultSession()})
		g.Expect(s.Snapshot().State).To(gomega.Equal(Connecting))
		close(d.hold)
		g.Expect(<-connected).To(gomega.Succeed())
		g.Expect(s.Snapshot().State).To(gomega.Equal(Listening))
		g.Expect(s.Close(t.Context())).To(gomega.Succeed())
	})
}

func TestSubscribersSeeEverySnapshotInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s, peer := onCall(t, Options{})
		var seen []uint64
		var levels []Levels
		cancel := s.Subscribe(func(now Snapshot) {
			seen = append(seen, now.Seq)
			if len(seen) == 1 {
				s.SetMuted(true) // a subscriber may act
			}
		})
		cancelLevels := s.SubscribeLevels(func(l Levels) { levels = append(levels, l) })
		peer.sink(LevelsMeasured{Levels: Levels{Mic: 0.5}})
		g.Expect(s.Levels()).To(gomega.Equal(Levels{Mic: 0.5}))
		cancel()
		cancelLevels()
		s.SetMuted(false)
		peer.sink(LevelsMeasured{Levels: Levels{Mic: 0.7}})
		g.Expect(seen).To(gomega.Equal([]uint64{seen[0], seen[0] + 1}), "levels alone make no snapshot")
		g.Expect(levels).To(gomega.Equal([]Levels{{Mic: 0.5}}))
		g.Expect(s.Close(t.Context())).To(gomega.Succeed())
	})
}

// TestManyWriters calls methods from many goroutines at once, for the race detector. A subscriber sees whole states, in order.
func TestManyWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s, peer := onCall(t, Options{Limits: Limits{Queue: 1 << 20}})
		var last uint64
		cancel := s.Subscribe(func(now Snapshot) {
			if now.Seq < last {
				t.Errorf("snapshot %d after %d", now.Seq, last)
			}
			last = now.Seq
		})
		defer cancel()
		var wg sync.WaitGroup
		for w := range 6 {
			wg.Go(func() {
				for i := range 200 {
					switch (w + i) % 6 {
					case 0:
						_ = s.SendText("x")
					case 1:
						_ = s.Interrupt()
					case 2:
						s.SetMuted(i%2 == 0)
					case 3:
						peer.sink(LevelsMeasured{})
					case 4:
						_ = s.Snapshot().Transcript
					case 5:
						tell(peer, &wire.ResponseCreated{EventID: "e", Response: wire.Response{ID: fmt.Sprint(w, i)}})
					}
				}
			})
		}
		wg.Wait()
		g.Expect(s.Close(t.Context())).To(gomega.Succeed())
		g.Expect(s.Snapshot().State).To(gomega.Equal(Disconnected))
	})
}

// TestAwait: a program waits for a moment of the call, and gives up when its context ends.
func TestAwait(t *testing.T) {
	bubble(t, "it waits", func(t *testing.T) {
		l := connectedBy(t, Options{}, plan{})
		muted := func(s Snapshot) bool { return s.Muted }
		found := make(chan Snapshot, 1)
		go func() {
			s, err := l.Await(t.Context(), muted)
			l.g.Expect(err).NotTo(gomega.HaveOccurred())
			found <- s
		}()
		synctest.Wait()
		l.g.Expect(found).NotTo(gomega.Receive())
		l.SetMuted(true)
		l.g.Expect((<-found).Muted).To(gomega.BeTrue())
		l.g.Expect(l.Await(t.Context(), muted)).To(gomega.HaveField("Muted", true), "it is so already")
		ended, end := context.WithCancel(t.Context())
		end()
		_, err := l.Await(ended, func(Snapshot) bool { return false })
		l.g.Expect(err).To(gomega.MatchError(context.Canceled))
	})
	bubble(t, "it returns when the function that it calls has returned", func(t *testing.T) {
		l := connectedBy(t, Options{}, plan{})
		ctx, end := context.WithCancel(t.Context())
		entered, leave, returned := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := l.Await(ctx, func(s Snapshot) bool {
				if s.Muted {
					close(entered)
					<-leave
				}
				return false
			})
			returned <- err
		}()
		synctest.Wait()
		go l.SetMuted(true)
		<-entered
		end()
		synctest.Wait()
		l.g.Expect(returned).NotTo(gomega.Receive())
		close(leave)
		l.g.Expect(<-returned).To(gomega.MatchError(context.Canceled))
	})
}
