package session

import (
	"errors"
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/session/settings"
	"github.com/antiphon-rt/antiphon/wire"
)

// fromClient takes one event of the client. Whatever is wrong with it is answered and the session goes on.
func (s *Session) fromClient(text []byte) {
	s.record("client", text)
	e, err := wire.DecodeClient(text)
	var bad *wire.DecodeError
	if errors.As(err, &bad) {
		s.refuse(bad)
		return
	}
	if _, asks := e.(*wire.ResponseCreate); asks {
		if bad = settings.CheckBeta(text); bad != nil {
			bad.EventID = e.ID()
			s.refuse(bad)
			return
		}
	}
	s.obey(e)
}

// Bounds of what may come before the session is announced.
const (
	maxEarly      = 64
	maxEarlyBytes = 4 << 20
)

// premature reports whether something of the client's comes at a time when nothing is answered: before session.created,
// which is the server's first event, so it waits for that while the back ends load; or when the session ends.
func (s *Session) premature(e any) bool {
	if conn.Up(s.state.Conn) {
		return false
	}
	if _, connecting := s.state.Conn.(conn.Connecting); !connecting {
		return true
	}
	bytes := 0
	if in, is := e.(incoming); is {
		bytes = len(in.text)
	}
	if len(s.early) == maxEarly || s.earlyBytes+bytes > maxEarlyBytes {
		s.earlyLost++
		return true
	}
	s.early = append(s.early, e)
	s.earlyBytes += bytes
	return true
}

// caughtUp deals with what came too early.
func (s *Session) caughtUp() {
	for _, e := range s.early {
		s.again(e)
	}
	if s.earlyLost > 0 {
		s.again(untaken{nil, failure{
			code:    "session_not_ready",
			message: fmt.Sprintf("%d events came before session.created and did not fit in the queue: send them again", s.earlyLost),
		}})
	}
	s.early, s.earlyBytes, s.earlyLost = nil, 0, 0
}

// obey performs an event of the client; errors on the way name it.
func (s *Session) obey(e wire.ClientEvent) {
	s.took(e.ID())
	s.cause = e.ID()
	s.dispatch(e)
	s.cause = ""
}

func (s *Session) refuse(bad *wire.DecodeError) {
	s.took(bad.EventID)
	s.cause = bad.EventID
	s.fail(failure{code: bad.Code, message: bad.Message, param: bad.Param})
	s.cause = ""
}

func (s *Session) dispatch(e wire.ClientEvent) {
	switch e := e.(type) {
	case *wire.SessionUpdate:
		s.updateSession(e)
	case *wire.InputAudioBufferAppend:
		s.appended(e.Audio)
	case *wire.InputAudioBufferCommit:
		s.commit()
	case *wire.InputAudioBufferClear:
		s.step(coord.OfTurn{Event: turn.Clear{}})
		s.input.Clear()
		s.send(&wire.InputAudioBufferCleared{})
	case *wire.OutputAudioBufferClear:
		if !s.player.ServerPaced() {
			s.fail(failure{code: "unsupported_event", param: "type", message: "output_audio_buffer.clear is for WebRTC: over a WebSocket the client holds the audio"})
			return
		}
		s.step(coord.OfPlayout{Event: playout.Clear{}})
	case *wire.ConversationItemCreate:
		s.createItem(e)
	case *wire.ConversationItemDelete:
		s.deleteItem(e)
	case *wire.ConversationItemRetrieve:
		s.retrieveItem(e)
	case *wire.ConversationItemTruncate:
		s.truncateItem(e)
	case *wire.ResponseCreate:
		s.createResponse(e)
	case *wire.ResponseCancel:
		s.cancelResponse(e.ResponseID)
	case *wire.AntiphonHello:
		s.hello(e)
	case *wire.AntiphonBargeInCandidate:
		s.candidate(e)
	case *wire.AntiphonBargeInReady:
		s.ready(e)
	case *wire.AntiphonBargeInHeard:
		s.heard(e)
	}
}

func (s *Session) updateSession(e *wire.SessionUpdate) {
	before := s.settings.Tracing()
	events, refused := s.settings.Update(e.Session, s.privileged())
	if refused == nil {
		s.applySettings()
	}
	if !s.changed(events, refused) {
		return
	}
	s.logTracing(before)
	s.step(coord.Configure{Config: s.coordConfig()})
	s.step(coord.OfConn{Event: conn.SetVAD{On: s.settings.TurnDetection() != nil}})
	s.armIdle()
}

// privileged reports whether the event in hand comes from somebody who may change locked fields.
func (s *Session) privileged() bool { return s.side != nil && s.side.Rules }

// logTracing logs the client's names for the session when they differ from before.
func (s *Session) logTracing(before settings.Tracing) {
	if t := s.settings.Tracing(); t.On && t != before {
		s.log.Info("tracing", "workflow", t.Workflow, "group", t.Group)
	}
}

// applySettings takes over what the audio path reads at every frame.
func (s *Session) applySettings() {
	s.input.Configure(s.settings.TurnDetection())
}

func (s *Session) createResponse(e *wire.ResponseCreate) {
	p := &e.Response
	refused := s.settings.MayRespond(p, s.privileged())
	if refused == nil {
		refused = s.conversation.CheckInput(p.Input)
	}
	if refused != nil {
		s.report(refused)
		return
	}
	if p.Conversation == "none" {
		s.createBeside(p)
		return
	}
	s.step(coord.OfResponse{Event: response.Create{Request: s.causes.ask(p)}})
}

// target is the response that a name means; a name that nobody has is one that never lived.
func (s *Session) target(name string) response.ID {
	if name == "" {
		return 0
	}
	for id, r := range s.replies {
		if r.object.ID == name {
			return id
		}
	}
	return ^response.ID(0)
}
