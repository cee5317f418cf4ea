package sdktest

// A server in memory, and the platform from which a session calls it.

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

// TB is the part of testing.TB that this package uses.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// maxSent bounds the events of the session that no test has expected yet. Beyond it, sending fails with sdk.ErrOverrun.
const maxSent = 65536

// Sound is how the sound of a call is transported.
type Sound uint8

// How sound is transported.
const (
	// Tracks is WebRTC: the sound does not come in events. The peer is an sdk.Ducker.
	Tracks Sound = iota
	// Messages is a WebSocket: the sound comes in events, and the client plays it. The peer is an sdk.Player and an sdk.Rewinder.
	Messages
	// Bare is WebRTC with a peer that cannot duck the agent.
	Bare
)

// Server is a server in memory, and the platform that a session calls it from: an sdk.Dialer, an sdk.DeviceLister and an
// sdk.PipelineSource. Set its fields before the first call. Its methods are safe for concurrent use.
type Server struct {
	// Session is the session in session.created.
	Session wire.Session
	// Sound is how the sound of calls is transported.
	Sound Sound
	// Plain is a server that knows nothing of Antiphon's extensions.
	Plain bool
	// Silent: the server does not create its session by itself; Greet does.
	Silent bool
	// Hold, unless it is nil, delays each call until it is closed.
	Hold <-chan struct{}
	// Refuse, unless it is nil, is the error of every Dial.
	Refuse error
	// MicrophoneErr is why calls have no microphone; with nil they have one.
	MicrophoneErr error
	// DevicesNow and PipelineNow are the answers of the platform.
	DevicesNow  sdk.Devices
	PipelineNow sdk.Pipeline

	// Clock is the clock that scripts advance. Give it to the session too.
	Clock *Clock

	t TB

	mu      sync.Mutex
	news    chan struct{} // has a token when something was sent
	calls   []sdk.CallConfig
	peer    *peer        // the peer of the last call
	session *sdk.Session // the last one that Connect has made
	sent    []wire.ClientEvent
	nth     int
	sendErr error
}

// NewServer makes a server that takes every call and creates its session at once, with a Clock that stands still. t fails when
// an expected event does not come.
func NewServer(t TB) *Server {
	told := wire.DefaultSession()
	told.ID, told.Model = "sess_test", "test-model"
	told.Audio.Input.Transcription = &wire.Transcription{}
	return &Server{t: t, Session: told, Clock: &Clock{}, news: make(chan struct{}, 1)}
}

// Dial implements sdk.Dialer.
func (s *Server) Dial(ctx context.Context, c sdk.CallConfig, sink func(sdk.PeerEvent)) (sdk.Peer, error) {
	p := &peer{server: s, sink: sink, muted: c.Muted, gain: 1}
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

// Greet sends the server's first event, session.created.
func (s *Server) Greet() { s.Send(&wire.SessionCreated{Session: s.Session}) }

// Calls returns the calls that were placed.
func (s *Server) Calls() []sdk.CallConfig {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Fail makes the connection refuse everything that is sent from now on; nil ends that.
func (s *Server) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sendErr = err
}

// Send gives these events to the session, with new ids where they have none.
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

// SendText gives any text to the session.
func (s *Server) SendText(text string) { s.Tell(sdk.Message{Data: []byte(text)}) }

// Tell reports an event of the last call, unless the call was closed. When Tell returns, a session that Connect has made has
// handled the event. So a subscriber of that session must not call Tell.
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

// settle waits until a session has handled every event so far.
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

// Connect makes a session that calls this server, with the server's Clock where o has none, and places the call. The caller
// closes the session.
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

// took records an event of the session, and answers it where every Antiphon answers by itself.
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
