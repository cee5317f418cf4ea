package session

// The client's events: who sent them, when they may be taken, and what each does.

import (
	"errors"
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/server/session/conversation"
	"github.com/antiphon-rt/antiphon/server/session/fault"
	"github.com/antiphon-rt/antiphon/server/session/settings"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// client is what the session knows of its client beside the settings.
type client struct {
	extended bool   // it knows our extensions
	metrics  bool   // it wants the times of its turns
	reports  bool   // it predicts barge-ins and reports what it has played
	taken    string // the event_id of its last event

	early      []clientMessage // what came before the session was announced
	earlyBytes int             // in early
	earlyLost  int             // what early had no room for
}

// origin is the client's event that led to something: who sent it, and its event_id, "" for none. The zero origin is no
// client's event.
type origin struct {
	client bool                     // the client or a side-band controller sent it
	side   *call.SidebandController // nil for the client
	event  string
}

// privileged reports whether the event may change locked fields.
func (o origin) privileged() bool { return o.side != nil && o.side.Rules }

// Bounds of what may come before the session is announced.
const (
	maxEarly      = 64
	maxEarlyBytes = 4 << 20
)

// tooEarly reports whether a message comes when nothing is answered. session.created is the server's first event, so a
// message waits for it while the back ends load. When the session ends, the message is dropped.
func (s *Session) tooEarly(m clientMessage) bool {
	if conn.Up(s.machines.state.Conn) {
		return false
	}
	if _, connecting := s.machines.state.Conn.(conn.Connecting); !connecting {
		return true
	}
	c := &s.client
	if len(c.early) == maxEarly || c.earlyBytes+len(m.text) > maxEarlyBytes {
		c.earlyLost++
		return true
	}
	c.early = append(c.early, m)
	c.earlyBytes += len(m.text)
	return true
}

// takeEarly has the messages handled that came too early.
func (s *Session) takeEarly() {
	c := &s.client
	for _, m := range c.early {
		s.again(m)
	}
	if c.earlyLost > 0 {
		s.again(clientMessage{refused: &fault.Failure{
			Code:    "session_not_ready",
			Message: fmt.Sprintf("%d events came before session.created and did not fit in the queue: send them again", c.earlyLost),
		}})
	}
	c.early, c.earlyBytes, c.earlyLost = nil, 0, 0
}

// fromClient takes one message of the client. Whatever is wrong with it is answered, and the session goes on.
func (s *Session) fromClient(m clientMessage) {
	o := origin{client: true, side: m.from}
	if m.refused != nil {
		s.fail(o, m.refused)
		return
	}
	s.record("client", m.text)
	e, err := wire.DecodeClient(m.text)
	var bad *wire.DecodeError
	if _, asks := e.(*wire.ResponseCreate); err == nil && asks {
		if bad = settings.CheckBeta(m.text); bad != nil {
			bad.EventID = e.ID()
		}
	}
	if bad != nil || errors.As(err, &bad) {
		o.event = bad.EventID
		s.took(o)
		s.fail(o, fault.Refused(bad))
		return
	}
	o.event = e.ID()
	s.took(o)
	s.dispatch(o, e)
}

// took notes the client's last event. Those of a side-band controller are not the client's.
func (s *Session) took(o origin) {
	if o.event != "" && o.side == nil {
		s.client.taken = o.event
	}
}

func (s *Session) dispatch(o origin, e wire.ClientEvent) {
	switch e := e.(type) {
	case *wire.SessionUpdate:
		s.updateSession(o, e)
	case *wire.InputAudioBufferAppend:
		s.do(o, s.input.Append(e.Audio, &s.machines.state))
	case *wire.InputAudioBufferCommit:
		s.do(o, s.input.Commit(&s.machines.state))
	case *wire.InputAudioBufferClear:
		s.do(o, s.input.Clear())
	case *wire.OutputAudioBufferClear:
		if !s.player.ServerPaced() {
			s.fail(o, &fault.Failure{
				Code: "unsupported_event", Param: "type",
				Message: "output_audio_buffer.clear is for WebRTC: over a WebSocket the client holds the audio",
			})
			return
		}
		s.stepFor(o, coord.OfPlayout{Event: playout.Clear{}})
	case *wire.ConversationItemCreate:
		s.createItem(o, e)
	case *wire.ConversationItemDelete:
		events, refused := s.conversation.Delete(e.ItemID)
		s.answerAll(o, events, refused)
	case *wire.ConversationItemRetrieve:
		events, refused := s.conversation.Retrieve(e.ItemID, conversation.Formats{Input: s.settings.InputFormat(), Output: s.settings.OutputFormat()})
		s.answerAll(o, events, refused)
	case *wire.ConversationItemTruncate:
		s.truncateItem(o, e)
	case *wire.ResponseCreate:
		s.createResponse(o, e)
	case *wire.ResponseCancel:
		s.cancelResponse(o, e.ResponseID)
	case *wire.AntiphonHello:
		s.hello(o, e)
	case *wire.AntiphonBargeInCandidate:
		s.candidate(o, e)
	case *wire.AntiphonBargeInReady:
		s.ready(o, e)
	case *wire.AntiphonBargeInHeard:
		s.heard(o, e)
	}
}

// answerAll sends the events of a change that a client has asked for, or says why it was refused. It reports whether the
// change was made.
func (s *Session) answerAll(o origin, events []wire.ServerEvent, refused *fault.Failure) bool {
	if refused != nil {
		s.fail(o, refused)
		return false
	}
	s.sendAll(events)
	return true
}

func (s *Session) updateSession(o origin, e *wire.SessionUpdate) {
	before := s.settings.Tracing()
	events, refused := s.settings.Update(e.Session, o.privileged())
	if refused == nil {
		s.input.Configure()
	}
	if !s.answerAll(o, events, refused) {
		return
	}
	s.logTracing(before)
	s.stepFor(o, coord.Configure{Config: s.machineConfig()})
	s.stepFor(o, coord.OfConn{Event: conn.SetVAD{On: s.settings.TurnDetection() != nil}})
	s.input.ArmIdle(&s.machines.state)
}

// logTracing logs the client's names for the session when they differ from before.
func (s *Session) logTracing(before settings.Tracing) {
	if t := s.settings.Tracing(); t.On && t != before {
		s.log.Info("tracing", "workflow", t.Workflow, "group", t.Group)
	}
}

func (s *Session) createItem(o origin, e *wire.ConversationItemCreate) {
	w := e.Item
	refused := conversation.Check(w)
	if refused == nil {
		refused = s.settings.MayAdd(&w, o.privileged())
	}
	if refused == nil {
		refused = s.conversation.Prepare(&w)
	}
	if refused != nil {
		s.fail(o, refused)
		return
	}
	recording, refused := s.input.TakeRecording(&w)
	if refused != nil {
		s.fail(o, refused)
		return
	}
	it, events, refused := s.conversation.Create(w, e.PreviousItemID)
	if s.answerAll(o, events, refused) && recording != nil {
		s.input.Transcribe(it, recording)
	}
}

func (s *Session) truncateItem(o origin, e *wire.ConversationItemTruncate) {
	it := s.conversation.Find(e.ItemID)
	var sent voice.Samples
	if it != nil {
		sent = s.generator.SentOf(it)
	}
	events, refused := s.conversation.Truncate(it, e, sent)
	if s.answerAll(o, events, refused) && s.generator.ClientStopped(it) {
		s.stepFor(o, coord.OfPlayout{Event: playout.Clear{}})
	}
}

func (s *Session) createResponse(o origin, e *wire.ResponseCreate) {
	p := &e.Response
	refused := s.settings.MayRespond(p, o.privileged())
	if refused == nil {
		refused = s.conversation.CheckInput(p.Input)
	}
	if refused != nil {
		s.fail(o, refused)
		return
	}
	if p.Conversation != "none" {
		s.stepFor(o, coord.OfResponse{Event: response.Create{Request: s.generator.Request(p)}})
		return
	}
	out, refused := s.generator.CreateOutOfBand(p)
	if refused != nil {
		s.fail(o, refused)
		return
	}
	s.do(o, out)
}

// cancelResponse cancels the response with that name; "" names the conversation's.
func (s *Session) cancelResponse(o origin, name string) {
	of := s.target(name)
	if out, is := s.generator.CancelOutOfBand(of); is {
		s.do(o, out)
		return
	}
	s.stepFor(o, coord.OfResponse{Event: response.Cancel{Target: of}})
}

// target is the response that a name means: 0, the live one, for "". An unknown name matches no response.
func (s *Session) target(name string) response.ID {
	if name == "" {
		return 0
	}
	if of, ok := s.generator.Named(name); ok {
		return of
	}
	return ^response.ID(0)
}

// spend takes what a response has cost from the budget and tells the client what is left.
func (s *Session) spend(tokens int) {
	if left := s.cfg.Limits.Spend(tokens); left != nil && !s.released {
		s.send(&wire.RateLimitsUpdated{RateLimits: left})
	}
}
