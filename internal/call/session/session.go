package session

// The life of a session: how it is made, how it runs, and how it ends.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/client"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/fault"
	"github.com/antiphon-rt/antiphon/internal/call/generation"
	"github.com/antiphon-rt/antiphon/internal/call/input"
	"github.com/antiphon-rt/antiphon/internal/call/lifetime"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/output"
	"github.com/antiphon-rt/antiphon/internal/call/ratelimit"
	"github.com/antiphon-rt/antiphon/internal/call/settings"
	"github.com/antiphon-rt/antiphon/internal/call/summary"
	"github.com/antiphon-rt/antiphon/internal/call/timing"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/tool"
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
	settings     *settings.Settings
	client       *client.Client
	conversation *conversation.Conversation
	input        *input.Listening
	generator    *generation.Generator
	summariser   *summary.Summariser
	player       *output.Player
	lifetime     *lifetime.Lifetime

	runs background
	survival

	link      call.Link
	can       call.Capabilities // the capabilities of link
	reason    conn.Reason       // why the session ends, once it does
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
	dropped atomic.Int64 // audio frames for which the queue had no room
	turns   atomic.Int64 // turns that are open or wait for their transcripts
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
	s := &Session{cfg: cfg, id: cfg.Env.NewID("sess_")}
	s.recorder.to = cfg.Kept.Journal
	s.begins(&cfg)
	s.log = cfg.Logger.With("session", s.id)
	s.shared.queue, s.shared.done = newQueue(), make(chan struct{})
	s.shared.workers = env.NewGroup(cfg.Env)
	s.shared.ctx, s.shared.cancel = context.WithCancel(context.Background())
	s.settings = settings.New(cfg.Env, cfg.Pipeline, cfg.Settings, cfg.Locks)
	s.machines.state = coord.New(s.settings.MachineConfig(false))
	s.conversation = conversation.New(cfg.Env, cfg.Pipeline.Model)
	s.conversation.ShareMemory(cfg.Memory)
	s.cfg.Guard = cfg.Guard.Logging(s.log)
	var err error
	s.input, err = input.NewListening(input.Parts{
		Env: cfg.Env, Log: s.log, Transcriber: cfg.Pipeline.Transcriber, EndOfTurn: cfg.Pipeline.EndOfTurn, Languages: cfg.Pipeline.Languages, Retranscriber: cfg.Pipeline.Retranscriber,
		Guard: s.cfg.Guard, Noise: cfg.Pipeline.Noise, Sounds: cfg.Pipeline.Sounds,
		Settings: s.settings, WantsSounds: func() bool { return s.client.WantsSounds() },
		GateParts: input.GateParts{
			Gate: cfg.Pipeline.Gate, Strict: s.runs.approvals.Open, Extended: func() bool { return s.client.Extended() }, Unbegun: func() response.ID { return s.generator.Unbegun() },
			Trace: s.tracePart(), Broken: s.brokenPart(),
		},
		Conversation: s.conversation, Buffer: input.MaxBuffer, Context: s.shared.ctx,
		Post:       func(e input.Event) bool { return s.post(inputEvent{e}) },
		Committed:  func(t turn.ID, u *timing.Turn) { s.generator.Commit(t, u) },
		Said:       s.said,
		NearAnswer: func() bool { return s.generator.NearAnswer() },
	})
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
	if c.Longest == 0 {
		c.Longest = lifetime.Longest
	}
	if c.Grace == 0 {
		c.Grace = lifetime.Grace
	}
	if c.Keep == 0 {
		c.Keep = lifetime.Keep
	}
	if c.Kept.Longest == 0 {
		c.Kept.Longest = lifetime.LongestCall
	}
	if c.Limits == nil {
		c.Limits = ratelimit.NewPerMinute(c.Env.Now)
	}
}

// ID returns the session's id, such as "sess_…".
func (s *Session) ID() string { return s.id }

// Start gives the session its link and starts its actor. Only the first call has an effect.
func (s *Session) Start(link call.Link) {
	s.shared.started.Do(func() {
		s.attach(link)
		s.cfg.Env.Go(s.run)
	})
}

// attach gives the session its link, the player that plays over it, and the generator that the player serves.
func (s *Session) attach(link call.Link) {
	s.link, s.can = link, call.Resolve(link)
	s.input.Connect(s.can)
	s.player = output.NewPlayer(link, s.can, s.cfg.Env, s.log, func(e output.Event) bool { return s.post(playerEvent{e}) })
	if !s.player.ServerPaced() {
		s.conversation.KeepAudio()
	}
	s.runs.caller = &tool.Caller{Principal: s.cfg.Options.Principal, Tell: func(n tool.News) bool { return s.post(backgroundNews{n}) }, Ended: s.shared.ctx.Done(), Following: s.following}
	parts := generation.Parts{
		Env: s.cfg.Env, Log: s.log, Pipeline: s.cfg.Pipeline, Guard: s.cfg.Guard, Limits: s.cfg.Limits, Settings: s.settings,
		Conversation: s.conversation, Player: s.player, Context: s.shared.ctx, Workers: s.shared.workers, AnswerAhead: s.cfg.AnswerAhead, Tools: s.cfg.Options.Tools,
		Caller:       s.runs.caller,
		Post:         func(e generation.Event) bool { return s.post(bodyEvent{e}) },
		WantsMetrics: func() bool { return s.client.WantsMetrics() },
		Extended:     func() bool { return s.client.Extended() },
		Trace:        s.tracePart(), Broken: s.brokenPart(),
	}
	if s.cfg.Timed != nil {
		parts.Timed = func(t *wire.AntiphonTurnMetrics, spoke time.Time) { s.cfg.Timed(s.id, t, spoke) }
	}
	s.generator = generation.New(parts)
	s.summariser = summary.New(summary.Parts{
		Env: s.cfg.Env, Log: s.log, Model: s.cfg.Pipeline.Model, Guard: s.cfg.Guard, Budget: s.cfg.Limits, Settings: s.settings,
		Conversation: s.conversation, Limits: s.cfg.Options.Summaries, Context: s.shared.ctx, Workers: s.shared.workers,
		Post:  func(e summary.Written) bool { return s.post(summaryWritten{e}) },
		Trace: parts.Trace, Extended: parts.Extended, Broken: parts.Broken,
	})
	s.client = client.New(client.Parts{
		Log: s.log, Settings: s.settings, Conversation: s.conversation, Input: s.input, Generator: s.generator, Player: s.player,
		Token: s.cfg.Kept.Token, Record: func(text []byte) { s.record("client", text) }, Reconnects: &s.shared.reconnects,
		Runs: s.cfg.Options.Runs, Act: s.actOnRun,
	})
	limits := lifetime.Limits{Longest: s.cfg.Longest, Grace: s.cfg.Grace, Keep: s.cfg.Keep, Call: s.cfg.Kept.Longest, CallEnd: s.cfg.Kept.Call.End(s.cfg.Kept.Longest)}
	if s.cfg.Kept.Restore != nil {
		limits.Left = max(time.Second, time.Unix(s.settings.Current().ExpiresAt, 0).Sub(s.now()))
	}
	s.lifetime = lifetime.New(lifetime.Parts{
		Env: s.cfg.Env, Log: s.log, Limits: limits,
		Client: s.client, Reconnects: &s.shared.reconnects, Survives: s.recorder.survives, Works: s.generator.ToolsRun, ServerPaced: s.player.ServerPaced(), Link: s.can.Reconnectable,
		Post: func(e lifetime.Event) bool { return s.post(lifetimeEvent{e}) },
	})
	if s.cfg.Kept.Restore != nil {
		s.restore(s.cfg.Kept.Restore)
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
func (s *Session) Drain(within time.Duration) { s.post(lifetimeEvent{lifetime.Drain{Within: within}}) }

// Queued returns how many events wait for the session, and how many may wait at most.
func (s *Session) Queued() (waiting, limit int) {
	return len(s.shared.queue.events), cap(s.shared.queue.events)
}

// Turns returns how many turns of the user are open or wait for their transcripts.
func (s *Session) Turns() int { return int(s.shared.turns.Load()) }

// Done is closed when the session has ended and every goroutine of it is joined.
func (s *Session) Done() <-chan struct{} { return s.shared.done }

func (s *Session) now() time.Time { return s.cfg.Env.Now() }

// post gives an event to the actor, from any goroutine. It reports false when the session has ended.
func (s *Session) post(e event) bool { return s.shared.queue.post(e) }

// again lets the actor handle an event after the present one.
func (s *Session) again(e event) { s.machines.later = append(s.machines.later, e) }

// run is the actor.
func (s *Session) run() {
	defer close(s.shared.done)
	defer s.recoverActor()
	s.warmUp()
	s.lifetime.Begin(s.settings.Current().ExpiresAt)
	for !s.forgotten {
		s.handle(<-s.shared.queue.events)
		s.settle()
		s.journalChanges()
	}
}

// settle handles everything that follows from the present event.
func (s *Session) settle() {
	for {
		for len(s.machines.later) > 0 {
			e := s.machines.later[0]
			s.machines.later = s.machines.later[1:]
			s.handle(e)
		}
		out := append(s.generator.Settle(&s.machines.state), s.summariser.Settle()...)
		out = append(append(out, s.speakOfRuns()...), s.continueAnswer()...)
		if len(out) == 0 && len(s.machines.later) == 0 {
			s.shared.turns.Store(int64(s.input.Turns()))
			s.generator.Ahead(s.likely(), &s.machines.state)
			return
		}
		s.do(out)
	}
}

// likely returns the turn whose end is likely.
func (s *Session) likely() generation.Likely {
	t, text := s.input.Likely(&s.machines.state)
	return generation.Likely{Turn: t, Text: text}
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
	s.recorder.opened = true
	s.step(coord.OfConn{Event: conn.Opened{VAD: s.settings.TurnDetection() != nil}})
	if s.cfg.Kept.Restore != nil {
		s.goOn()
	}
	for _, m := range s.client.TakeEarly() {
		s.again(clientMessage{m})
	}
	if err == nil {
		return
	}
	s.log.Warn("a back end did not come up", "err", err)
	var stage *pipeline.StageError
	f := &fault.Failure{Type: fault.TypeServer, Code: "backend_unavailable", Message: err.Error()}
	if errors.As(err, &stage) {
		f.Param = stage.Stage
	}
	s.fail(client.Origin{}, f)
}

// release ends the remaining parts of the session. It cancels the context, stops the timers, joins the workers and closes the link, in
// that order, so that nothing waits for something that has ended.
func (s *Session) release() {
	s.released = true
	s.journalEnd()
	s.summariser.Close()
	s.shared.cancel()
	close(s.shared.queue.ending)
	s.lifetime.Close()
	s.player.Close()
	s.input.Close()
	s.shared.workers.Wait()
	s.input.Wait()
	s.generator.Close()
	s.conversation.Close()
	if l := s.can.CloseExplainer; l != nil {
		l.ExplainClose(s.reason)
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
	if !s.released {
		s.release()
	}
}

// tracePart returns the function that sees the steps of machines that belong to one response or one turn; nil where nobody traces.
func (s *Session) tracePart() func(name string, st coord.Step) {
	if s.cfg.Trace == nil {
		return nil
	}
	return func(name string, st coord.Step) { s.cfg.Trace(s.id+"."+name, st) }
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
