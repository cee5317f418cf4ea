package world

// The servers of a simulated call: the session with its rooms, the hub and the output as a server has them, and the journal from which another server goes on with the call.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc"
	"github.com/antiphon-rt/antiphon/internal/call/session"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/journal/journaltest"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

// token is that of the call.
const token = "token"

// server is a process that serves the call.
type server struct {
	w       *world
	alarm   *alarm
	session *session.Session
	output  *rtc.Output
	hub     *link.Hub
	book    *journal.Book
	writer  *journal.Writer
	dead    atomic.Bool
	ended   chan struct{} // closed when nothing of the session is left
}

// isOver reports whether nothing of the session is left.
func (s *server) isOver() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// Write implements io.Writer: it gets what the server logs as an error.
func (s *server) Write(line []byte) (int, error) {
	if !s.dead.Load() {
		s.alarm.add(string(line))
	}
	return len(line), nil
}

var errDead = errors.New("the process has ended")

// newServer returns a process that has no session yet.
func (c *call) newServer() *server {
	s := &server{ended: make(chan struct{}), w: c.w, alarm: &c.alarm, output: rtc.NewOutput(uint32(1 + c.w.source("RTP").number(1<<31)))}
	view := &journaltest.View{Log: &c.store, Before: func(int) error {
		if s.dead.Load() {
			return errDead
		}
		return nil
	}}
	if chance := c.w.source("store"); c.faults.store {
		before := view.Before
		view.Before = func(n int) error {
			if chance.chance(30) {
				_ = c.w.pause(context.Background(), chance.between(0, 200*time.Millisecond))
			}
			return before(n)
		}
		view.After = func(int) error {
			if chance.chance(3) {
				return context.DeadlineExceeded // nobody knows whether it was written
			}
			return nil
		}
	}
	s.book = journal.New(journal.Config{
		Log: view, Env: machine{c.w}, Node: fmt.Sprintf("server %d", len(c.servers)),
		Broken: func(invariant, event string) { c.alarm.add("the journal breaks " + invariant + " at " + event) },
		Trace: func(_ string, epoch uint32, e journal.Edge) {
			c.note("journal %d: %s, %s, %s", epoch, e.From.Name(), e.Event.Name(), e.To.Name())
		},
	})
	return s
}

// begin makes the session of the process.
func (s *server) begin(c *call, kept session.Kept) error {
	kept.Token = token
	if s.writer != nil {
		kept.Journal = &records{w: s.w, Writer: s.writer}
	}
	var err error
	s.session, err = session.New(session.Config{
		Pipeline: stages(c.model, c.hears, c.synthesizer), Settings: wire.DefaultSession(), Env: machine{c.w}, CheckInvariants: true,
		Logger: slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelError})),
		Shared: session.Shared{Guard: watchdog.New(machine{c.w}, stageLimits)}, AnswerAhead: c.w.source("settings").chance(50),
		Record: func(_, dir string, text []byte) { c.note("%s %s", dir, text) },
		Trace: func(_ string, st coord.Step) {
			c.note("server %s: %s, %s, %s", st.Machine, st.From.Name(), st.Event.Name(), st.To.Name())
		},
		Kept: kept,
	})
	if err == nil {
		c.servers = append(c.servers, s)
	}
	return err
}

// records gives the journal each record in a step of its own: else its goroutine would take one record more or less in one entry of the log.
type records struct {
	*journal.Writer
	w *world

	mu      sync.Mutex
	waiting []journal.Record
}

// Record implements survival.Journal.
func (r *records) Record(one journal.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, one)
	r.w.add(0, func() {
		r.mu.Lock()
		first := r.waiting[0]
		r.waiting = r.waiting[1:]
		r.mu.Unlock()
		r.Writer.Record(first)
	})
}

// start starts the session with its hub.
func (s *server) start(c *call, hub *link.Hub) {
	s.hub = hub
	machine{s.w}.Go(func() {
		<-s.session.Done()
		if s.writer != nil {
			s.writer.Close()
		}
		close(s.ended)
	})
	if s.writer != nil {
		hub.WithholdUncommitted()
		s.writer.Start(journal.Watch{Committed: hub.Committed, Fenced: func() {
			hub.Mute()
			s.session.Close(conn.Failed)
		}})
	}
	if c.faults.controller {
		c.join(s)
	}
	s.session.Start(hub)
}

// connect connects a client: with a new call, with the call of the server that has it, or with one that a new server takes over.
func (c *call) connect(ctx context.Context, n *network, p *peer, resume sdk.Resume) (*connection, error) {
	switch {
	case resume.Token == "":
		return c.begins(n, p)
	case c.server.dead.Load():
		return c.takesOver(ctx, n, p, resume.After)
	}
	return c.goesOn(n, p, resume.After)
}

// begins begins a call.
func (c *call) begins(n *network, p *peer) (*connection, error) {
	s := c.newServer()
	if c.faults.kill {
		s.writer = s.book.Begin(token, nil)
	}
	if err := s.begin(c, session.Kept{Call: journal.Call{ID: "rtc_1", WebRTC: true, Began: time.Now().Unix()}}); err != nil {
		return nil, err
	}
	k := s.connect(n, p)
	k.opened = s.session.Opened
	s.start(c, link.NewHub(machine{c.w}, k, s.session.Resumable))
	if c.server = s; p.antiphon {
		p.kept.Token = token
	}
	return k, nil
}

// goesOn gives the call another connection, as the HTTP API does.
func (c *call) goesOn(n *network, p *peer, after string) (*connection, error) {
	s := c.server
	if err := s.hub.Reserve(after); err != nil {
		return nil, &sdk.RefusedError{Status: 409}
	}
	defer s.hub.Unreserve()
	<-s.hub.Detach()
	seen, ok := s.session.Leave()
	if !ok {
		return nil, &sdk.RefusedError{Status: 404}
	}
	k := s.connect(n, p)
	k.opened = s.session.Restored
	if !s.hub.Attach(k, after) {
		_ = k.Close()
		return nil, &sdk.RefusedError{Status: 404}
	}
	p.kept = sdk.Resumption{Token: token, Resumed: true, Seen: seen}
	return k, nil
}

// takesOver goes on with the call in a new process, as the HTTP API does.
func (c *call) takesOver(ctx context.Context, n *network, p *peer, after string) (*connection, error) {
	s := c.newServer()
	var former link.Former
	state, writer, err := s.book.TakeOver(ctx, token, nil, func(st *journal.State) bool {
		former = link.Former{Base: st.Base, Session: &st.Settings}
		for _, e := range st.Events {
			former.Events = append(former.Events, link.Event{Type: e.Type, ID: e.ID, Text: e.Text, Number: e.Number})
		}
		_, refused := link.EventsAfter(former.Events, former.Base, after)
		return refused == nil
	})
	if err != nil {
		c.alarm.add("the call is not taken over: " + err.Error())
		return nil, &sdk.RefusedError{Status: 404}
	}
	s.writer = writer
	if err := s.begin(c, session.Kept{Restore: state, Call: state.Call}); err != nil {
		return nil, err
	}
	k := s.connect(n, p)
	k.opened = func() {
		s.session.Opened()
		s.session.Returned()
	}
	hub := link.NewRestoredHub(machine{c.w}, s.output, s.session.Resumable, former)
	if !hub.Attach(k, after) {
		return nil, &sdk.RefusedError{Status: 410}
	}
	s.start(c, hub)
	c.server, p.kept = s, sdk.Resumption{Token: token, Resumed: true, Seen: state.Taken}
	return k, nil
}

// kill ends the process: nothing that it does reaches anybody any more.
func (s *server) kill() {
	s.dead.Store(true)
	s.hub.Mute()
	s.session.Close(conn.Failed)
}
