package session

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/server/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/session/conversation"
	"github.com/antiphon-rt/antiphon/server/session/fault"
	"github.com/antiphon-rt/antiphon/server/session/input"
	"github.com/antiphon-rt/antiphon/server/session/output"
	"github.com/antiphon-rt/antiphon/server/session/ratelimit"
	"github.com/antiphon-rt/antiphon/server/session/settings"
	"github.com/antiphon-rt/antiphon/server/session/speech"
	"github.com/antiphon-rt/antiphon/wire"
)

// Times that bound a session.
const (
	warmAfter = 15 * time.Second // the longest wait for the back ends before the session is announced
	grace     = 20 * time.Second // a lost transport may come back for so long
	longest   = 60 * time.Minute // the protocol's limit of a session
)

// Session is one call: see the package comment. Its exported methods are safe for concurrent use.
type Session struct {
	cfg     Config
	env     env.Env
	id      string
	log     *slog.Logger
	queue   queue
	done    chan struct{}
	started sync.Once
	workers sync.WaitGroup
	ctx     context.Context //nolint:containedctx // the life of the session's goroutines, not of a call
	cancel  context.CancelFunc
	dropped atomic.Int64 // audio frames for which the queue had no room
	// resumable: the client may come back over another connection.
	resumable atomic.Bool

	// What follows belongs to run.
	link     call.Link
	can      call.Capabilities // of link
	player   *output.Player
	state    coord.State
	seen     coord.Seen // when invariants are checked
	settings *settings.Settings
	metrics  bool   // the client wants the turns' times
	extended bool   // the client knows our extensions
	reports  bool   // the client predicts interruptions, and says what was heard
	taken    string // event_id of the client's last event

	conversation *conversation.Conversation
	input        *input.Input
	speech       *speech.Speech
	replies      map[response.ID]*reply
	lastBeside   response.ID              // of those outside the conversation
	running      *reply                   // whose body the synthesis machine serves
	starting     *reply                   // whose body waits for transcripts
	causes       causes                   // of the responses that the machines may still name
	cause        string                   // event_id of the client event in hand
	asked        bool                     // a client's event is in hand
	side         *call.SidebandController // whose it is; nil for the client's own
	later        []any                    // events that effects gave rise to
	early        []any                    // of the client's, before the session was announced
	earlyBytes   int                      // in early
	earlyLost    int                      // what early had no room for
	timers       map[string]*time.Timer
	idle         uint64      // names the count of idle_timeout_ms
	ends         conn.Reason // why it does, once it does
	released     bool
	forgotten    bool
}

// New makes a session that Start brings to life. Until then it takes events and keeps them.
func New(cfg Config) (*Session, error) {
	if cfg.Pipeline == nil {
		return nil, errors.New("session: Config.Pipeline is nil")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Env == nil {
		cfg.Env = env.System()
	}
	if cfg.Longest == 0 {
		cfg.Longest = longest
	}
	if cfg.Grace == 0 {
		cfg.Grace = grace
	}
	if cfg.Keep == 0 {
		cfg.Keep = keep
	}
	in, err := input.New()
	if err != nil {
		return nil, err
	}
	s := &Session{
		cfg: cfg, env: cfg.Env, id: newID("sess_"), queue: newQueue(), done: make(chan struct{}), input: in,
		conversation: conversation.New(cfg.Env, cfg.Pipeline.Model), replies: map[response.ID]*reply{}, timers: map[string]*time.Timer{},
	}
	if s.cfg.Limits == nil {
		s.cfg.Limits = ratelimit.NewPerMinute(cfg.Env.Now)
	}
	s.log = cfg.Logger.With("session", s.id)
	cfg.Settings.ID = s.id
	cfg.Settings.ExpiresAt = cfg.Env.Now().Add(cfg.Longest).Unix()
	s.settings = settings.New(s.env, cfg.Pipeline, cfg.Settings, cfg.Locks)
	s.state = coord.New(s.settings.MachineConfig(false))
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.speech = speech.New(s.ctx, speech.Config{
		Env: s.env, Transcriber: cfg.Pipeline.Transcriber, Post: func(e speech.Event) bool { return s.queue.post(e) },
	})
	return s, nil
}

// ID is the session's name, such as "sess_…".
func (s *Session) ID() string { return s.id }

// Start gives the session its link and begins its life. Only the first call counts.
func (s *Session) Start(link call.Link) {
	s.started.Do(func() {
		s.attach(link)
		go s.run()
	})
}

// attach gives the session its link, and the player that plays over it.
func (s *Session) attach(link call.Link) {
	s.link, s.can = link, call.Resolve(link)
	s.player = output.NewPlayer(link, s.can, s.env, func(e output.Event) bool { return s.queue.post(e) })
	if !s.player.ServerPaced() {
		s.conversation.KeepAudio()
	}
}

// Abandon ends a session that was never started.
func (s *Session) Abandon() {
	s.started.Do(func() {
		s.cancel()
		close(s.queue.ending)
		close(s.done)
	})
}

// Close asks the session to end; Done says when it has.
func (s *Session) Close(why conn.Reason) { s.queue.post(coord.OfConn{Event: conn.Close{Reason: why}}) }

// Done is closed when the session has ended and every goroutine of it is joined.
func (s *Session) Done() <-chan struct{} { return s.done }

func (s *Session) now() time.Time { return time.Now() }

// run is the actor.
func (s *Session) run() {
	defer close(s.done)
	defer s.mourn()
	s.warm()
	s.limitTime()
	for !s.forgotten {
		s.handle(<-s.queue.events)
		for len(s.later) > 0 {
			e := s.later[0]
			s.later = s.later[1:]
			s.handle(e)
		}
	}
}

// warm loads the back ends and then opens the session.
func (s *Session) warm() {
	s.workers.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, warmAfter)
		defer cancel()
		s.queue.post(warmed{fault.Contain("pipeline", func() error { return s.cfg.Pipeline.Warm(ctx) })})
	})
}

// release ends everything that is left, in the order that lets nobody wait for the dead: it is the last effect but one.
func (s *Session) release() {
	s.released = true
	s.cancel()
	close(s.queue.ending)
	for _, t := range s.timers {
		t.Stop()
	}
	s.player.Close()
	s.speech.Close()
	for id, r := range s.replies {
		if r.beside != nil { // its body cannot report any more
			delete(s.replies, id)
		}
	}
	s.workers.Wait()
	s.speech.Wait()
	if l := s.can.CloseExplainer; l != nil {
		l.ExplainClose(s.ends)
	}
	if err := s.link.Close(); err != nil {
		s.log.Debug("closing the transport", "err", err)
	}
}

// Events of the session's own.
type (
	warmed   struct{ err error }
	incoming struct {
		text []byte
		from *call.SidebandController // nil for the client
	}
	binary  struct{ from *call.SidebandController }
	untaken struct {
		from *call.SidebandController
		why  failure
	}
	audioIn   struct{ pcm []int16 }
	firstSent struct{}
	linkGone  struct{ err error }
)

// handle takes one event to its end.
func (s *Session) handle(e any) {
	switch e := e.(type) {
	case coord.Event:
		s.step(e)
	case incoming, binary, untaken:
		if !s.premature(e) {
			s.ofClient(e)
		}
	case audioIn:
		s.audio(e.pcm)
	case warmed:
		s.opened(e.err)
	case firstSent:
		s.firstPacket()
	case verdictTimeout:
		s.turnEvent(s.input.Decide(e.turn, s.now()))
	case idleTimeout:
		if e.gen == s.idle {
			s.step(coord.OfTurn{Event: turn.IdleTimeout{}})
		}
	case audioTimeout:
		s.checkAudio(e.turn)
	case expiring:
		s.expiring()
	case linkGone:
		s.gone(e.err)
	case leaving:
		s.leave(e)
	case output.Event:
		s.fromPlayer(e)
	case spent:
		s.spend(e.tokens)
	case besideEnded:
		s.endedBeside(e)
	case forgetReply:
		s.forgetNow(e.id)
	case speech.Event:
		s.fromSpeech(e)
	case bodyDelta, bodyTextEnded, bodyAudio, bodyClauseSaid, bodyVoiceEnded, bodyOver:
		s.fromBody(e)
	}
}

// ofClient takes what a client sent, or tried to.
func (s *Session) ofClient(e any) {
	s.asked = true
	switch e := e.(type) {
	case incoming:
		s.side = e.from
		s.fromClient(e.text)
	case binary:
		s.side = e.from
		s.fail(failure{code: wire.CodeInvalidJSON, message: "binary messages are not events: send JSON text"})
	case untaken:
		s.side = e.from
		s.fail(e.why)
	}
	s.asked, s.side = false, nil
}

// step runs one event through the machines and performs what follows.
func (s *Session) step(e coord.Event) { s.stepAt(s.player.Mark(), e) }

// stepAt is step where the reply on air has got to at.
func (s *Session) stepAt(at playout.Mark, e coord.Event) {
	from := s.state
	next, effects, steps := coord.Next(from, at, e)
	s.state = next
	s.hush(effects)
	if s.cfg.CheckInvariants {
		var broken string
		if s.seen, broken = coord.Watch(s.seen, coord.Edge{From: from, Event: e, To: next, Effects: effects}); broken != "" {
			s.log.Error(invariantBroken, "invariant", broken, "event", e.Name())
		}
	}
	for _, st := range steps {
		s.log.Debug("transition", "machine", st.Machine, "from", st.From.Name(), "event", st.Event.Name(),
			"action", st.Action, "to", st.To.Name(), "why", st.Why)
		if s.cfg.Trace != nil {
			s.cfg.Trace(s.id, st)
		}
	}
	for _, f := range effects {
		s.perform(f)
	}
	s.causes.forget(next)
	s.followLink()
	s.rejected(s.player.Settled(&s.state))
}

// hush stops the sound of a reply that the effects take away, before anything else is done: how much of it was heard is
// counted already, and what goes out meanwhile would not be.
func (s *Session) hush(effects []coord.Effect) {
	for _, f := range effects {
		var resp response.ID
		switch f := f.(type) {
		case playout.Hold:
			resp = f.Resp
		case playout.Drop:
			resp = f.Resp
		}
		s.player.Pause(resp)
	}
}

// again has an event handled after the one in hand.
func (s *Session) again(e any) { s.later = append(s.later, e) }

// audible: the agent is heard at the moment.
func (s *Session) audible() bool {
	_, playing := s.state.Playout.(playout.Playing)
	return playing
}

// after posts e when d is over. A timer of the same name is replaced.
func (s *Session) after(name string, d time.Duration, e any) {
	if t := s.timers[name]; t != nil {
		t.Stop()
	}
	s.timers[name] = time.AfterFunc(d, func() { s.queue.post(e) })
}

func (s *Session) stopTimer(name string) {
	if t := s.timers[name]; t != nil {
		t.Stop()
		delete(s.timers, name)
	}
}

func (s *Session) opened(err error) {
	s.applySettings()
	s.step(coord.OfConn{Event: conn.Opened{VAD: s.settings.TurnDetection() != nil}})
	s.caughtUp()
	if err == nil {
		return
	}
	s.log.Warn("a back end did not come up", "err", err)
	var stage *pipeline.StageError
	f := failure{kind: typeServer, code: "backend_unavailable", message: err.Error()}
	if errors.As(err, &stage) {
		f.param = stage.Stage
	}
	s.fail(f)
}
