package session

// A call that is longer than a session: it goes on in a fresh session with its conversation, until the call has lasted as long as it may.

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/wire"
)

// memoryJournal is a Journal in memory.
type memoryJournal struct {
	mu    sync.Mutex
	state journal.State
	// last is the type of the event with which the process is killed: it records nothing after that. "" for none.
	last   string
	killed bool
}

// Epoch implements Journal.
func (m *memoryJournal) Epoch() uint32 { return max(1, m.known().Epoch) }

// Record implements Journal.
func (m *memoryJournal) Record(r journal.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.killed {
		return
	}
	m.state.Apply(r)
	m.killed = slices.ContainsFunc(r.Events, func(e journal.Event) bool { return e.Type == m.last })
}

// known returns what the journal knows.
func (m *memoryJournal) known() journal.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// takeOver returns the journal of the next owner, and what that owner begins with.
func (m *memoryJournal) takeOver() (*memoryJournal, *journal.State) {
	next := &memoryJournal{}
	known, err := json.Marshal(m.known()) // as it is stored
	var was journal.State
	if err := errors.Join(err, json.Unmarshal(known, &was)); err != nil {
		panic(err)
	}
	next.Record(journal.Record{State: &was})
	next.Record(journal.Record{Claimed: was.Epoch + 1})
	state := next.known()
	return next, &state
}

// longCall is a call of a client that knows our extensions, with a session at a time.
type longCall struct {
	*caller
	t    *testing.T
	cfg  Config
	kept *memoryJournal
	// webRTC: the server paces the audio.
	webRTC bool
}

// beginLongCall begins a call that may last for longest, with sessions of that length.
func beginLongCall(t *testing.T, session, longest time.Duration, change ...func(*Config)) *longCall {
	t.Helper()
	l := newLongCall(t, session, longest, change...)
	l.begin()
	return l
}

func newLongCall(t *testing.T, session, longest time.Duration, change ...func(*Config)) *longCall {
	l := &longCall{t: t, cfg: Config{Pipeline: plain(), Settings: wire.DefaultSession(), Longest: session}, kept: &memoryJournal{}}
	l.cfg.Kept = Kept{Journal: l.kept, Call: journal.Call{ID: "ws_1", Began: time.Now().Unix()}, Longest: longest}
	for _, c := range change {
		c(&l.cfg)
	}
	return l
}

// begin begins the first session of the call.
func (l *longCall) begin() {
	l.t.Helper()
	l.begins()
	first(l.caller, "session.created")
	l.send(`{"type":"antiphon.hello"}`)
	first(l.caller, "antiphon.ack")
}

// goesOn begins the next session of the call, as for a client that reconnects.
func (l *longCall) goesOn() {
	l.t.Helper()
	l.kept, l.cfg.Kept.Restore = l.kept.takeOver()
	l.cfg.Kept.Journal = l.kept
	l.begins()
	l.s.Returned()
}

// begins begins a session. Responses that it has not ended end in the next one.
func (l *longCall) begins() {
	c := newCallerWith(l.t, l.cfg)
	if l.webRTC {
		c.pacer = newPacer(c.s, nil)
	}
	c.s.Start(c)
	c.t.Cleanup(func() {
		c.s.Close(conn.ByClient)
		<-c.s.Done()
	})
	l.caller = c
}

func TestALongCall(t *testing.T) {
	story(t, "it goes on in fresh sessions with its conversation, until it has lasted as long as it may", func(t *testing.T) {
		began := time.Now()
		l := beginLongCall(t, time.Hour, 150*time.Minute)
		l.settle(`"instructions":"Be kind.","output_modalities":["text"]`)
		wait(time.Second) // the journal learns of an event after the client
		ids := map[string]bool{}
		for n := 1; ; n++ {
			known := l.kept.known()
			ids[known.Settings.ID] = true
			l.g.Expect(l.s.ID()).To(gomega.Equal(known.Settings.ID))
			l.g.Expect(known.Settings.Instructions).To(gomega.Equal("Be kind."))
			l.ask("say 1 words")
			first(l.caller, "response.done")
			wait(time.Second)
			l.g.Expect(l.kept.known().Items).To(gomega.HaveLen(2*n), "each session adds a question and an answer")
			if n == 3 {
				break
			}
			wait(54*time.Minute + 50*time.Second)
			first(l.caller, "antiphon.session.moving")
			<-l.s.Done()
			l.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", time.Duration(n)*55*time.Minute, 10*time.Second))
			l.g.Expect(l.count("error") + l.count("antiphon.session.expiring")).To(gomega.BeZero())
			l.goesOn()
			told := next[*wire.SessionUpdated](l.caller, "session.updated").Session
			l.g.Expect(told.ExpiresAt).To(gomega.Equal(min(time.Now().Add(time.Hour).Unix(), began.Add(150*time.Minute).Unix())))
			wait(time.Second)
		}
		l.g.Expect(ids).To(gomega.HaveLen(3), "each session has an id of its own")
		wait(38 * time.Minute)
		first(l.caller, "antiphon.session.expiring")
		<-l.s.Done()
		l.g.Expect(next[*wire.ErrorEvent](l.caller, "error").Error.Code).To(gomega.Equal("session_expired"))
		l.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", 150*time.Minute, 2*time.Second))
		l.g.Expect(l.kept.known().Ended).To(gomega.BeTrue())
	})

	story(t, "one that is taken over early keeps its session, and its time", func(t *testing.T) {
		l := beginLongCall(t, time.Hour, 12*time.Hour)
		wait(time.Second)
		was := l.kept.known().Settings
		wait(20 * time.Minute)
		l.goesOn()
		l.ask("say 1 words")
		first(l.caller, "response.done")
		l.g.Expect(l.count("session.updated")).To(gomega.BeZero())
		l.g.Expect(l.kept.known().Settings).To(gomega.Equal(was))
	})

	story(t, "an answer that the end of a session cuts off goes on in the next one", func(t *testing.T) {
		l := beginLongCall(t, 90*time.Second, 12*time.Hour)
		l.settle(`"output_modalities":["text"]`)
		wait(44 * time.Second)
		l.ask("stall")
		first(l.caller, "response.created")
		first(l.caller, "antiphon.session.moving")
		<-l.s.Done()
		l.goesOn()
		done := next[*wire.ResponseDone](l.caller, "response.done").Response
		l.g.Expect(done.StatusDetails.Error.Code).To(gomega.Equal(room.CodeMoved))
		first(l.caller, "response.created")
	})
}
