package session

import (
	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/server/session/fault"
	"github.com/antiphon-rt/antiphon/wire"
)

// Types of an error event.
const (
	typeInvalid = "invalid_request_error"
	typeServer  = "server_error"
)

// failure is an error event in the making. The zero kind is typeInvalid.
type failure struct {
	kind, code, message, param string
}

// fail tells the client what could not be done. The session goes on.
func (s *Session) fail(f failure) { s.answer(s.problem(f)) }

// report tells the client of a failure of a component. The session goes on.
func (s *Session) report(f *fault.Failure) {
	s.fail(failure{kind: f.Type, code: f.Code, message: f.Message, param: f.Param})
}

func (s *Session) problem(f failure) *wire.ErrorEvent {
	if f.kind == "" {
		f.kind = typeInvalid
	}
	e := wire.Error{Type: f.kind, Code: f.code, Message: f.message}
	if f.param != "" {
		e.Param = &f.param
	}
	if s.cause != "" {
		cause := s.cause
		e.EventID = &cause
	}
	s.log.Debug("error event", "code", f.code, "param", f.param)
	return &wire.ErrorEvent{Error: e}
}

// answer gives an event to whoever sent the one in hand, and to nobody else: real clients take an error for one of their own, some
// of them for the end. Where no client's event is in hand it is for all.
func (s *Session) answer(e wire.ServerEvent) {
	switch {
	case s.side != nil:
		e.SetID(newID("event_"))
		encoded := call.Encode(e)
		s.record("server", encoded.Text)
		s.side.Answer(encoded)
	case s.asked:
		s.tellClient(e)
	default:
		s.send(e)
	}
}

// tellClient gives an event to the client and to nobody else.
func (s *Session) tellClient(e wire.ServerEvent) {
	send := s.link.Send
	if shared := s.can.Shared; shared != nil {
		send = shared.SendToPrimary
	}
	e.SetID(newID("event_"))
	s.sendBy(send, call.Encode(e), nil)
}

// record writes down what went to a client or came from one.
func (s *Session) record(direction string, text []byte) {
	if s.cfg.Record != nil {
		s.cfg.Record(s.id, direction, text)
	}
}

// send gives an event to the client, in order.
func (s *Session) send(e wire.ServerEvent) { s.sendThen(e, nil) }

// sendThen is send; the link's goroutine calls sent, when not nil, once the event is on its way.
func (s *Session) sendThen(e wire.ServerEvent, sent func()) {
	e.SetID(newID("event_"))
	s.sendEvent(call.Encode(e), sent)
}

// sendAll gives events to the client, in order.
func (s *Session) sendAll(events []wire.ServerEvent) {
	for _, e := range events {
		s.send(e)
	}
}

// changed sends the events of a change that a client has asked for, or says why it was refused. It reports whether the change
// was made.
func (s *Session) changed(events []wire.ServerEvent, refused *fault.Failure) bool {
	if refused != nil {
		s.report(refused)
		return false
	}
	s.sendAll(events)
	return true
}
