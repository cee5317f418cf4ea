package session

// A Lifetime without an actor: when it ends a session, when it waits for a client, and which events the client gets.

import (
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/call/survival"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/wire"
)

// reconnectable is a link.Reconnectable: its client can reconnect.
type reconnectable struct {
	link.Link
	dropped int
}

func (l *reconnectable) DropConnection() { l.dropped++ }

// lifetimeBench is a Lifetime, the state of an open session, and what the Lifetime has posted.
type lifetimeBench struct {
	*Lifetime
	g      *gomega.WithT
	link   reconnectable
	state  coord.State
	events chan lifetimeEvent
}

// lifetimeStory runs a test in a synctest bubble.
func lifetimeStory(t *testing.T, name string, tell func(b *lifetimeBench)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &lifetimeBench{g: gomega.NewWithT(t), state: coord.New(coord.Config{}), events: make(chan lifetimeEvent, 10)}
			b.state.Conn = conn.Live{}
			b.Lifetime = &Lifetime{timers: env.NewTimers(env.System()), lifetimeParts: lifetimeParts{
				Env: env.System(), Log: slog.New(slog.DiscardHandler), Limits: Limits{Longest: 10 * time.Minute, Grace: Grace, Keep: Keep},
				Settings: &conversation.Settings{}, Reconnects: &atomic.Bool{}, Generator: speaking.New(speaking.Parts{}), Survival: survival.New(survival.Parts{}), ServerPaced: true, Link: &b.link,
				Post: func(e lifetimeEvent) bool { b.events <- e; return true },
			}}
			tell(b)
			b.Lifetime.Close()
		})
	})
}

// survives lets another process go on with the session: its journal has begun.
func (b *lifetimeBench) survives() {
	b.Survival = survival.New(survival.Parts{
		Env: env.System(), Journal: &memoryJournal{}, Restored: &journal.State{}, Reconnects: &atomic.Bool{}, Settings: b.Settings,
		Conversation: conversation.New(env.System(), nil), Runs: runs.New(runs.Parts{Caller: &tool.Caller{}}),
	})
	b.Survival.Restore()
}

func TestTheTimeOfASession(t *testing.T) {
	lifetimeStory(t, "a notice is due a minute before the end, and the end after the longest time", func(b *lifetimeBench) {
		began := time.Now()
		b.Begin(began.Unix())
		b.g.Expect(<-b.events).To(gomega.Equal(lifetimeEvent(ExpiryNear{})))
		b.g.Expect(time.Since(began)).To(gomega.Equal(9 * time.Minute))
		b.g.Expect(b.Handle(ExpiryNear{}, &b.state)).To(gomega.BeEmpty(), "the client does not know our extensions")
		b.g.Expect(<-b.events).To(gomega.Equal(lifetimeEvent(TimeUp{})))
		b.g.Expect(time.Since(began)).To(gomega.Equal(10 * time.Minute))
		b.g.Expect(b.Handle(TimeUp{}, &b.state)).To(gomega.Equal(end(conn.TimeLimit)))
	})

	lifetimeStory(t, "the last session of a long call says how long the call may be", func(b *lifetimeBench) {
		began := time.Now()
		b.Limits.Call, b.Limits.CallEnd = 12*time.Hour, began.Unix()
		b.Begin(began.Unix())
		_, out := b.Explain(conn.TimeLimit)
		b.g.Expect(out[0].(room.Fail).Failure.Message).To(gomega.ContainSubstring("720 minutes"))
	})

	lifetimeStory(t, "who gets an event about an end", func(b *lifetimeBench) {
		o, out := b.Explain(conn.TimeLimit)
		b.g.Expect(o).To(gomega.Equal(room.Origin{}), "everybody")
		b.g.Expect(code(out)).To(gomega.Equal("session_expired"))
		o, out = b.Explain(conn.ServerStops)
		b.g.Expect(o).To(gomega.Equal(room.Origin{Client: true}), "the client alone")
		b.g.Expect(code(out)).To(gomega.Equal("server_stopping"))
		b.ServerPaced = false
		for _, why := range []conn.Reason{conn.ServerStops, conn.ByClient, conn.Failed} {
			_, out = b.Explain(why)
			b.g.Expect(out).To(gomega.BeEmpty())
		}
	})
}

func TestTheMoveToAFreshSession(t *testing.T) {
	moving := func(b *lifetimeBench) (began time.Time) {
		b.survives()
		b.Limits.Call, b.Limits.CallEnd = 12*time.Hour, time.Now().Add(12*time.Hour).Unix()
		b.Begin(time.Now().Add(b.Limits.Longest).Unix())
		return time.Now()
	}
	lifetimeStory(t, "it waits for a second in which nobody speaks", func(b *lifetimeBench) {
		began := moving(b)
		b.g.Expect(<-b.events).To(gomega.Equal(lifetimeEvent(MoveDue{})))
		b.g.Expect(time.Since(began)).To(gomega.Equal(5 * time.Minute))
		b.state.Turn = turn.Speaking{Turn: 1}
		b.g.Expect(b.Handle(MoveDue{}, &b.state)).To(gomega.BeEmpty())
		for range 10 {
			b.g.Expect(b.Handle(<-b.events, &b.state)).To(gomega.BeEmpty())
		}
		b.state.Turn = turn.Idle{}
		began = time.Now()
		var out room.List
		for len(out) == 0 {
			out = b.Handle(<-b.events, &b.state)
		}
		b.g.Expect(out).To(gomega.Equal(end(conn.Moves)))
		b.g.Expect(time.Since(began)).To(gomega.Equal(time.Second))
		o, out := b.Explain(conn.Moves)
		b.g.Expect(o).To(gomega.Equal(room.Origin{Client: true}))
		b.g.Expect(out).To(gomega.HaveExactElements(room.Send{Event: &wire.AntiphonSessionMoving{}}))
	})

	lifetimeStory(t, "without a pause it comes at the end, and the client gets no notice", func(b *lifetimeBench) {
		moving(b)
		b.g.Expect(<-b.events).To(gomega.Equal(lifetimeEvent(MoveDue{})))
		b.g.Expect(<-b.events).To(gomega.Equal(lifetimeEvent(ExpiryNear{})))
		b.g.Expect(b.Handle(ExpiryNear{}, &b.state)).To(gomega.BeEmpty())
		b.g.Expect(b.Handle(<-b.events, &b.state)).To(gomega.Equal(end(conn.Moves)))
	})

	lifetimeStory(t, "a call that cannot go on does not move", func(b *lifetimeBench) {
		moving(b)
		b.Survival = survival.New(survival.Parts{})
		b.g.Expect(b.Handle(MoveDue{}, &b.state)).To(gomega.BeEmpty())
		b.g.Expect(<-b.events).To(gomega.Equal(lifetimeEvent(MoveDue{})))
		b.g.Expect(<-b.events).To(gomega.Equal(lifetimeEvent(ExpiryNear{})), "nobody looks for a pause")
		b.g.Expect(b.Handle(TimeUp{}, &b.state)).To(gomega.Equal(end(conn.TimeLimit)))
	})
}

// code returns the code of a failure that is the only action of a list, "" for another list.
func code(out room.List) string {
	if len(out) == 1 {
		if f, is := out[0].(room.Fail); is {
			return f.Failure.Code
		}
	}
	return ""
}

func TestAFailedTransport(t *testing.T) {
	gone := fmt.Errorf("no answer: %w", link.ErrUnreachable)
	for _, row := range []struct {
		name       string
		reconnects bool
		err        error
		want       conn.Event
	}{
		{"a client that cannot come back is lost", false, gone, conn.Close{Reason: conn.Failed}},
		{"a client that can come back is waited for", true, gone, conn.Lost{}},
		{"a client that hangs up does not come back", true, link.ErrHungUp, conn.Close{Reason: conn.ByClient}},
		{"a fault is no lost connection", true, errors.New("fault"), conn.Close{Reason: conn.Failed}},
	} {
		lifetimeStory(t, row.name, func(b *lifetimeBench) {
			b.Reconnects.Store(row.reconnects)
			b.g.Expect(b.Handle(Failed{row.err}, &b.state)).To(gomega.Equal(step(row.want)))
			_, waits := row.want.(conn.Lost)
			b.g.Expect(b.link.dropped == 1).To(gomega.Equal(waits))
		})
	}
}

func TestTheWaitForAClient(t *testing.T) {
	lifetimeStory(t, "it is longer for a client that may reconnect, and starts again when the client announces that", func(b *lifetimeBench) {
		began := time.Now()
		b.ArmGrace(1)
		b.g.Expect(<-b.events).To(gomega.Equal(lifetimeEvent(GraceOver{Gen: 1})))
		b.g.Expect(time.Since(began)).To(gomega.Equal(Grace))

		b.Reconnects.Store(true)
		out, waits := b.Leave(&b.state)
		b.g.Expect(waits).To(gomega.BeTrue())
		b.g.Expect(out).To(gomega.Equal(step(conn.Lost{})))
		b.state.Conn = conn.Interrupted{Gen: 2}
		b.ArmGrace(2)
		<-time.After(Keep / 2)
		out, waits = b.Leave(&b.state)
		b.g.Expect(waits).To(gomega.BeTrue())
		b.g.Expect(out).To(gomega.BeEmpty())
		began = time.Now()
		b.g.Expect(<-b.events).To(gomega.Equal(lifetimeEvent(GraceOver{Gen: 2})))
		b.g.Expect(time.Since(began)).To(gomega.Equal(Keep))
	})

	lifetimeStory(t, "the session cannot be continued", func(b *lifetimeBench) {
		_, waits := b.Leave(&b.state)
		b.g.Expect(waits).To(gomega.BeFalse(), "the client has not said that it may come back")
		b.Reconnects.Store(true)
		b.state.Conn = conn.Closed{}
		_, waits = b.Leave(&b.state)
		b.g.Expect(waits).To(gomega.BeFalse(), "the session has ended")
	})
}
