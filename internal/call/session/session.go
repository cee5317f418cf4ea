package session

// The life of a session: how it is made, how it runs, and how it ends.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/call/logbook"
	"github.com/antiphon-rt/antiphon/internal/call/ratelimit"
	"github.com/antiphon-rt/antiphon/internal/call/remote"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/call/survival"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// warmUpTimeout is the longest wait for the back ends before the session is announced.
const warmUpTimeout = 15 * time.Second

// Session is one call: see the package comment. Its exported methods are safe for concurrent use.
type Session struct {
	cfg      Config
	id       string
	log      *slog.Logger
	shared   sharedState
	machines machines

	// The rooms. They belong to the actor.
	settings     *conversation.Settings
	client       *Client
	conversation *conversation.Conversation
	input        *listening.Listening
	generator    *speaking.Generator
	summariser   *conversation.Summariser
	player       *speaking.Player
	lifetime     *Lifetime
	runs         *runs.Runs
	survival     *survival.Survival

	link link.Link
	sent int               // bytes of all events that were encoded; the settings count eightfold, because they take most work
	can  link.Capabilities // the capabilities of link
	end  ending
	deck *logbook.Deck // nil: the session is neither recorded nor played
}

// ending is how far the end of a session is.
type ending struct {
	reason    conn.Reason // why the session ends, once it does
	released  bool
	forgotten bool
}

// sharedState has the fields that goroutines other than the actor use.
type sharedState struct {
	queue   queue
	done    chan struct{}
	started sync.Once
	workers *env.Group
	ctx     context.Context //nolint:containedctx // the life of the session's goroutines, not of a call
	cancel  context.CancelFunc
	dropped atomic.Int64  // audio frames for which the queue had no room
	tab     link.EventTab // what the limiter of the client's events counts
	turns   atomic.Int64  // turns that are open or wait for their transcripts
	// reconnects: the client may reconnect over another connection.
	reconnects atomic.Bool
}

// machines has the state machines, and the events that they still have to take.
type machines struct {
	state coord.State
	seen  coord.Seen // when invariants are checked
	later []event    // events that effects have caused
}

// New makes a session. Until Start it takes events and keeps them.
func New(cfg Config) (*Session, error) {
	if cfg.Pipeline == nil {
		return nil, errors.New("session: Config.Pipeline is nil")
	}
	cfg.complete()
	deck := cfg.pass()
	s := &Session{cfg: cfg, id: cfg.Env.NewID("sess_"), deck: deck}
	s.survival = survival.New(survival.Parts{Env: cfg.Env, Journal: cfg.Kept.Journal, Call: cfg.Kept.Call, Restored: cfg.Kept.Restore, Reconnects: &s.shared.reconnects})
	cfg.Settings = s.survival.Begin(cfg.Settings, s.id, cfg.Longest, cfg.Kept.Longest)
	s.id = cfg.Settings.ID
	s.log = cfg.Logger.With("session", s.id)
	s.shared.queue, s.shared.done = newQueue(), make(chan struct{})
	s.shared.workers = env.NewGroup(cfg.Env)
	s.shared.ctx, s.shared.cancel = context.WithCancel(context.Background())
	s.settings = conversation.NewSettings(cfg.Env, cfg.Pipeline, cfg.Settings, cfg.Locks)
	s.settings.ShareMemory(cfg.Waiting)
	s.settings.Servers = cfg.Options.MCP
	s.machines.state = coord.New(s.settings.MachineConfig(false))
	s.conversation = conversation.New(cfg.Env, cfg.Pipeline.Model)
	s.conversation.ShareMemory(cfg.Memory)
	s.cfg.Guard = cfg.Guard.Logging(s.log)
	var err error
	parts := listening.Parts{
		Env: cfg.Env, Log: s.log, Transcriber: cfg.Pipeline.Transcriber, EndOfTurn: cfg.Pipeline.EndOfTurn, Languages: cfg.Pipeline.Languages, Retranscriber: cfg.Pipeline.Retranscriber,
		Guard: s.cfg.Guard, Noise: cfg.Pipeline.Noise, Sounds: cfg.Pipeline.Sounds,
		Settings: s.settings, TakeBack: cfg.Options.TakeBack,
		GateParts: listening.GateParts{
			Gate: cfg.Pipeline.Gate, Trace: s.tracePart(), Broken: s.brokenPart(),
		},
		Conversation: s.conversation, Buffer: listening.MaxBuffer, Memory: cfg.Waiting, Context: s.shared.ctx,
		Post: func(e listening.Event) bool { return s.post(inputEvent{e}) },
	}
	if deck != nil {
		parts.Judgements = deck
	}
	s.input, err = listening.NewListening(parts)
	return s, err
}

// complete fills in the defaults.
func (c *Config) complete() {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Env == nil {
		c.Env = env.System()
	}
	if c.Guard == nil {
		c.Guard = watchdog.New(c.Env, watchdog.Defaults())
	}
	c.Longest = cmp.Or(c.Longest, Longest)
	c.Grace = cmp.Or(c.Grace, Grace)
	c.Keep = cmp.Or(c.Keep, Keep)
	c.Kept.Longest = cmp.Or(c.Kept.Longest, LongestCall)
	if c.Options.MCP == nil {
		c.Options.MCP = mcp.New(mcp.Config{})
	}
	if c.Limits == nil {
		c.Limits = ratelimit.NewPerMinute(c.Env.Now)
	}
}

// ID returns the session's id, such as "sess_…".
func (s *Session) ID() string { return s.id }

// Start gives the session its link and starts its actor. Only the first call has an effect.
func (s *Session) Start(link link.Link) {
	s.shared.started.Do(func() {
		s.attach(link)
		s.cfg.Env.Go(s.run)
	})
}

// attach gives the session its link, the player that plays over it, and the generator that the player serves.
func (s *Session) attach(to link.Link) {
	s.link, s.can = s.connect(to)
	s.input.Connect(s.can)
	s.player = speaking.NewPlayer(s.link, s.can, s.cfg.Env, s.log, func(e speaking.PlayerEvent) bool { return s.post(playerEvent{e}) })
	if !s.player.ServerPaced() {
		s.conversation.KeepAudio()
	}
	post := func(e runs.Event) bool { return s.post(runsEvent{e}) }
	s.runs = runs.New(runs.Parts{
		Env: s.cfg.Env, Log: s.log, Settings: s.settings, Conversation: s.conversation, Player: s.player, Access: s.cfg.Options.Runs,
		SpokenApproval: s.cfg.Options.MCP.SpokenApproval,
		Context:        s.shared.ctx, Workers: s.shared.workers, Post: post,
		Caller: &tool.Caller{
			Principal: s.cfg.Options.Principal, Ended: s.shared.ctx.Done(), Tell: func(n tool.News) bool { return post(runs.News{News: n}) },
			Following: func(run string, follows bool) { post(runs.Followed{Run: run, Follows: follows}) },
		},
	})
	parts := speaking.Parts{
		Env: s.cfg.Env, Log: s.log, Pipeline: s.cfg.Pipeline, Guard: s.cfg.Guard, Limits: s.cfg.Limits, Settings: s.settings,
		Conversation: s.conversation, Player: s.player, Context: s.shared.ctx, Workers: s.shared.workers, AnswerAhead: s.cfg.AnswerAhead, Tools: s.cfg.Options.Tools,
		AnswerRemote: s.cfg.Options.MCP.Answer, Caller: s.runs.Caller,
		Post:  func(e speaking.Event) bool { return s.post(bodyEvent{e}) },
		Trace: s.tracePart(), Broken: s.brokenPart(),
	}
	if s.cfg.Timed != nil {
		parts.Timed = func(t *wire.AntiphonTurnMetrics, spoke time.Time) { s.cfg.Timed(s.id, t, spoke) }
	}
	s.generator = speaking.New(parts)
	s.runs.Generator = s.generator
	servers := remote.New(remote.Parts{
		Env: s.cfg.Env, Log: s.log, Settings: s.settings, Conversation: s.conversation, Generator: s.generator, Principal: s.cfg.Options.Principal,
		Context: s.shared.ctx, Workers: s.shared.workers, Post: func(e remote.Event) bool { return s.post(remoteEvent{e}) },
	})
	s.summariser = conversation.NewSummariser(conversation.SummaryParts{
		Env: s.cfg.Env, Log: s.log, Model: s.cfg.Pipeline.Model, Guard: s.cfg.Guard, Budget: s.cfg.Limits, Settings: s.settings,
		Conversation: s.conversation, Limits: s.cfg.Options.Summaries, Context: s.shared.ctx, Workers: s.shared.workers,
		Post:  func(e conversation.Written) bool { return s.post(summaryWritten{e}) },
		Trace: parts.Trace, Broken: parts.Broken,
	})
	s.client = &Client{clientParts: clientParts{
		Log: s.log, Settings: s.settings, Conversation: s.conversation, Input: s.input, Generator: s.generator, Player: s.player,
		Token: s.cfg.Kept.Token, Record: func(text []byte) { s.record("client", text) }, Reconnects: &s.shared.reconnects,
		Runs: s.runs, Remote: servers, Survival: s.survival,
	}, keypad: keypad{timers: env.NewTimers(s.cfg.Env)}}
	limits := Limits{Longest: s.cfg.Longest, Grace: s.cfg.Grace, Keep: s.cfg.Keep, Call: s.cfg.Kept.Longest, CallEnd: s.cfg.Kept.Call.End(s.cfg.Kept.Longest)}
	if s.cfg.Kept.Restore != nil {
		limits.Left = max(time.Second, time.Unix(s.settings.Current().ExpiresAt, 0).Sub(s.cfg.Env.Now()))
	}
	s.lifetime = &Lifetime{timers: env.NewTimers(s.cfg.Env), lifetimeParts: lifetimeParts{
		Env: s.cfg.Env, Log: s.log, Limits: limits,
		Settings: s.settings, Reconnects: &s.shared.reconnects, Survival: s.survival, Input: s.input, Generator: s.generator, ServerPaced: s.player.ServerPaced(), Link: s.can.Reconnectable,
		Post: func(e lifetimeEvent) bool { return s.post(fromLifetime{e}) },
	}}
	v := s.survival
	v.Log, v.Settings, v.Conversation, v.Generator, v.Player, v.Runs = s.log, s.settings, s.conversation, s.generator, s.player, s.runs
	v.Trace, v.Broken = parts.Trace, parts.Broken
	if v.Restored != nil {
		v.Restore()
	}
}

// Abandon ends a session that was never started.
func (s *Session) Abandon() {
	s.shared.started.Do(func() {
		s.shared.cancel()
		close(s.shared.queue.ending)
		close(s.shared.done)
	})
}

// Close asks the session to end. Done is closed when it has ended.
func (s *Session) Close(why conn.Reason) {
	s.post(machineEvent{coord.OfConn{Event: conn.Close{Reason: why}}})
}

// Drain asks the session to end at the next pause, and after within in any case. A client that knows our extensions gets an event about it.
func (s *Session) Drain(within time.Duration) { s.post(fromLifetime{Drain{Within: within}}) }

// Queued returns how many events wait for the session, and how many may wait at most.
func (s *Session) Queued() (waiting, limit int) {
	return len(s.shared.queue.events), cap(s.shared.queue.events)
}

// Turns returns how many turns of the user are open or wait for their transcripts.
func (s *Session) Turns() int { return int(s.shared.turns.Load()) }

// Done is closed when the session has ended and every goroutine of it is joined.
func (s *Session) Done() <-chan struct{} { return s.shared.done }

// post gives an event to the actor, from any goroutine. It reports false when the session has ended.
func (s *Session) post(e event) bool { return s.shared.queue.post(e) }

// again lets the actor handle an event after the present one.
func (s *Session) again(e event) { s.machines.later = append(s.machines.later, e) }

// run is the actor.
func (s *Session) run() {
	defer close(s.shared.done)
	defer s.deck.Close()
	defer s.recoverActor()
	s.begin()
	for !s.end.forgotten {
		s.take(<-s.shared.queue.events)
	}
}

// begin begins to load the back ends, and the session's time.
func (s *Session) begin() {
	s.warmUp()
	s.lifetime.Begin(s.settings.Current().ExpiresAt)
	s.deck.End()
}

// take handles an event of the queue, with everything that follows.
func (s *Session) take(e event) {
	if s.secretDigit(e) {
		return
	}
	if s.deck != nil && !s.deck.Plays() {
		s.deck.Took(s.booked(e))
	}
	s.handle(e)
	s.settle()
	s.survival.Record(&s.machines.state, s.input.Uncommitted())
	s.deck.End()
}

// settle handles everything that follows from the present event.
func (s *Session) settle() {
	for {
		for len(s.machines.later) > 0 {
			e := s.machines.later[0]
			s.machines.later = s.machines.later[1:]
			s.handle(e)
		}
		s.generator.HoldCalls(s.input.Tentative())
		out := append(s.generator.Settle(&s.machines.state), s.summariser.Settle()...)
		if !s.survival.Due() {
			out = append(out, s.runs.Speak(&s.machines.state)...)
		}
		out = append(out, s.survival.ContinueAnswer(&s.machines.state)...)
		if len(out) == 0 && len(s.machines.later) == 0 {
			s.shared.turns.Store(int64(s.input.Turns()))
			s.generator.Ahead(s.likely(), &s.machines.state)
			return
		}
		s.do(out)
	}
}

// likely returns the turn whose end is likely.
func (s *Session) likely() speaking.Likely {
	t, text, from := s.input.Likely(&s.machines.state)
	return speaking.Likely{Turn: t, Text: text, From: from}
}

// warmUp loads the back ends and then opens the session.
func (s *Session) warmUp() {
	s.shared.workers.Go(func() {
		ctx, cancel := env.WithTimeout(s.cfg.Env, s.shared.ctx, warmUpTimeout, context.DeadlineExceeded)
		defer cancel()
		err := s.cfg.Guard.Run(ctx, "pipeline", func(*watchdog.Watch) error { return s.cfg.Pipeline.Warm(ctx) })
		if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			err = fmt.Errorf("%w: not ready after %v: %w", err, warmUpTimeout, context.DeadlineExceeded)
		}
		s.post(warmedUp{err})
	})
}

// opened announces the session. err says which back end could not be loaded.
func (s *Session) opened(err error) {
	s.input.Configure()
	s.step(coord.OfConn{Event: conn.Opened{VAD: s.settings.TurnDetection() != nil}})
	s.do(s.survival.Opened())
	s.do(s.client.Remote.Begin())
	for _, m := range s.client.TakeEarly() {
		s.again(clientMessage{m})
	}
	if g := s.client.greeting; g != nil {
		s.again(*g)
	}
	if err == nil {
		return
	}
	s.log.Warn("a back end did not come up", "err", err)
	var stage *pipeline.StageError
	f := &room.Failure{Type: room.TypeServer, Code: "backend_unavailable", Message: room.Public(err.Error())}
	if errors.As(err, &stage) {
		f.Param = stage.Stage
	}
	s.fail(room.Origin{}, f)
}

// release ends the remaining parts of the session. It cancels the context, stops the timers, joins the workers and closes the link, in
// that order, so that nothing waits for something that has ended.
func (s *Session) release() {
	s.end.released = true
	s.survival.End(s.end.reason, &s.machines.state)
	s.summariser.Close()
	s.shared.cancel()
	close(s.shared.queue.ending)
	s.lifetime.Close()
	s.client.keypad.timers.StopAll()
	s.player.Close()
	s.input.Close()
	s.client.Remote.Close()
	s.shared.workers.Wait()
	s.input.Wait()
	s.generator.Close()
	s.settings.Close()
	s.conversation.Close()
	if l := s.can.CloseExplainer; l != nil {
		l.ExplainClose(s.end.reason)
	}
	if err := s.link.Close(); err != nil {
		s.log.Debug("closing the transport", "err", err)
	}
}

// The log lines about faults of the session's own code.
const (
	sessionFailed   = "a session has failed"
	invariantBroken = "an invariant does not hold"
)

// recoverActor ends a session whose actor panics. The other calls go on.
func (s *Session) recoverActor() {
	v := recover()
	if v == nil {
		return
	}
	s.log.Error(sessionFailed, "panic", v, "stack", string(debug.Stack()))
	s.deck.Did(logbook.Panics(v))
	defer s.deck.End()
	if !s.end.released {
		s.release()
	}
}

// tracePart returns the function that sees the steps of machines that belong to one response or one turn; nil where nobody traces.
func (s *Session) tracePart() func(name string, st coord.Step) {
	if s.cfg.Trace == nil && s.deck == nil {
		return nil
	}
	return func(name string, st coord.Step) {
		s.deck.Stepped(st)
		if s.cfg.Trace != nil {
			s.cfg.Trace(s.id+"."+name, st)
		}
	}
}

// brokenPart returns the function that is called with a broken invariant of such a machine; nil where invariants are not checked.
func (s *Session) brokenPart() func(invariant, event string) {
	if !s.cfg.CheckInvariants {
		return nil
	}
	return s.broken
}

// broken logs an invariant that does not hold.
func (s *Session) broken(invariant, event string) {
	s.log.Error(invariantBroken, "invariant", invariant, "event", event)
}
