package sdktest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

// TB is what of a testing.TB is needed.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// maxSent bounds the session's events that nobody has expected yet: beyond it the session is told that the link is full.
const maxSent = 65536

// Sound is how a call's sound goes.
type Sound uint8

// The ways of the sound. Exhaustively:
const (
	// Tracks is WebRTC: the sound is no events. The peer is an sdk.Ducker.
	Tracks Sound = iota
	// Messages is a WebSocket: the sound comes in events, and the client plays it. The peer is an sdk.Player and an sdk.Rewinder.
	Messages
	// Bare is WebRTC without any way to lower the agent.
	Bare
)

// Server is a server in memory, and the platform that a session calls it from: an sdk.Dialer, an sdk.DeviceLister and an
// sdk.PipelineSource. Set its fields before the first call. Its methods are safe for concurrent use.
type Server struct {
	// Session is what session.created says.
	Session wire.Session
	// Sound is how the calls' sound goes.
	Sound Sound
	// Plain is a server that knows nothing of Antiphon's extensions.
	Plain bool
	// Silent makes no session by itself: Greet does.
	Silent bool
	// Hold is waited for before a call is taken, when it is not nil.
	Hold <-chan struct{}
	// Refuse is what Dial fails with, when it is not nil.
	Refuse error
	// MicrophoneErr is why the call has no microphone; nil opens it.
	MicrophoneErr error
	// DevicesNow and PipelineNow are what the platform answers.
	DevicesNow  sdk.Devices
	PipelineNow sdk.Pipeline

	// Clock is the one that scripts turn; give it to the session too.
	Clock *Clock

	t TB

	mu      sync.Mutex
	news    chan struct{} // has a token when something was sent
	calls   []sdk.CallConfig
	peer    *peer        // of the last call
	session *sdk.Session // that Connect has made
	sent    []wire.ClientEvent
	nth     int
	sendErr error
}

// NewServer makes a server that takes every call and makes its session at once, and a Clock that stands still. t fails when
// something that is expected does not come.
func NewServer(t TB) *Server {
	told := wire.DefaultSession()
	told.ID, told.Model = "sess_test", "test-model"
	told.Audio.Input.Transcription = &wire.Transcription{}
	return &Server{t: t, Session: told, Clock: &Clock{}, news: make(chan struct{}, 1)}
}

// Dial implements sdk.Dialer.
func (s *Server) Dial(ctx context.Context, c sdk.CallConfig, sink func(sdk.PeerEvent)) (sdk.Peer, error) {
	p := &peer{server: s, sink: sink, muted: c.Muted}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.peer = p
	s.mu.Unlock()
	if s.Hold != nil {
		select {
		case <-s.Hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s.Refuse != nil {
		return nil, s.Refuse
	}
	switch {
	case c.NoMicrophone:
	case s.MicrophoneErr != nil:
		p.tell(sdk.MicrophoneFailed{Err: s.MicrophoneErr})
	default:
		p.tell(sdk.MicrophoneOpened{ID: c.Microphone})
	}
	p.tell(sdk.PeerOpened{})
	if !s.Silent {
		s.Greet()
	}
	switch s.Sound {
	case Tracks:
		return trackPeer{p}, nil
	case Messages:
		return playerPeer{p}, nil
	case Bare:
	}
	return p, nil
}

// Devices implements sdk.DeviceLister.
func (s *Server) Devices(context.Context) (sdk.Devices, error) { return s.DevicesNow, nil }

// Pipeline implements sdk.PipelineSource.
func (s *Server) Pipeline(context.Context) (sdk.Pipeline, error) { return s.PipelineNow, nil }

// Greet makes the session.
func (s *Server) Greet() { s.Send(&wire.SessionCreated{Session: s.Session}) }

// Calls are the calls that were placed.
func (s *Server) Calls() []sdk.CallConfig {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Fail makes the link refuse all that is sent from now on; nil takes that back.
func (s *Server) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sendErr = err
}

// Send lets the session hear these events, under ids of their own where they have none.
func (s *Server) Send(events ...wire.ServerEvent) {
	for _, e := range events {
		if e.ID() == "" {
			s.mu.Lock()
			s.nth++
			n := s.nth
			s.mu.Unlock()
			e.SetID("event_" + strconv.Itoa(n))
		}
		s.Tell(sdk.Message{Data: wire.AppendServer(nil, e)})
	}
}

// SendText lets the session hear any text.
func (s *Server) SendText(text string) { s.Tell(sdk.Message{Data: []byte(text)}) }

// Tell lets the session know of what happens on the last call. Nothing is told of a call that was closed. A
// session that Connect has made has handled it on return, so this must not be called from a subscriber of that.
func (s *Server) Tell(e sdk.PeerEvent) {
	s.t.Helper()
	s.mu.Lock()
	p, session := s.peer, s.session
	s.mu.Unlock()
	if p != nil {
		p.tell(e)
	}
	s.settle(session)
}

// settle waits until a session has handled all that it was told.
func (s *Server) settle(session *sdk.Session) {
	s.t.Helper()
	if session == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := session.Settle(ctx); err != nil {
		s.t.Fatalf("the session does not come to rest: is the server told something from a subscriber, or does one wait?")
	}
}

// Connect makes a session that calls this server, on the server's Clock where o has none, and places the call. Closing the session is
// the caller's.
func (s *Server) Connect(o sdk.Options) *sdk.Session {
	s.t.Helper()
	o.Dialer = s
	if o.Clock == nil {
		o.Clock = s.Clock
	}
	session, err := sdk.New(o)
	if err != nil {
		s.t.Fatalf("no session: %v", err)
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := session.Connect(ctx); err != nil {
		s.t.Fatalf("no call: %v", err)
		return nil
	}
	s.settle(session)
	s.mu.Lock()
	s.session = session
	s.mu.Unlock()
	return session
}

// took notes what the session sends. What an Antiphon answers by itself is answered.
func (s *Server) took(p *peer, message []byte) error {
	e, err := wire.DecodeClient(message)
	if err != nil {
		return errors.Join(sdk.ErrServerGone, err)
	}
	s.mu.Lock()
	failing, full := s.sendErr, len(s.sent) >= maxSent
	if failing == nil && !full {
		s.sent = append(s.sent, e)
	}
	s.mu.Unlock()
	switch {
	case failing != nil:
		return failing
	case full:
		return sdk.ErrOverrun
	}
	select {
	case s.news <- struct{}{}:
	default:
	}
	if hello, ok := e.(*wire.AntiphonHello); ok && !s.Plain {
		ack := &wire.AntiphonAck{EventID: "ack", Acknowledges: hello.EventID, Machines: hello.Machines}
		p.tell(sdk.Message{Data: wire.AppendServer(nil, ack)})
	}
	return nil
}
