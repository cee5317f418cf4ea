package session

// Both directions of the link: the transport's callbacks, which only post, and the events that go out.

import (
	"errors"
	"sync"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/call/survival"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// Opened implements link.Handler. Events that were sent before wait in the link.
func (s *Session) Opened() {}

// Message implements link.Handler. A binary message is answered with an error.
func (s *Session) Message(data []byte, text bool) { s.Control(nil, data, text) }

// Control is Message for a side-band controller.
func (s *Session) Control(from *link.SidebandController, data []byte, text bool) {
	if !text {
		s.RefuseSideband(from, wire.CodeInvalidJSON, "binary messages are not events: send JSON text")
		return
	}
	s.post(clientMessage{Message{From: from, Text: append([]byte(nil), data...)}})
}

// AwaitHandled returns when the session has handled the messages that it got before, when it ends, or when stop is closed.
func (s *Session) AwaitHandled(stop <-chan struct{}) {
	done := make(chan struct{})
	if !s.post(handled{done}) {
		return
	}
	select {
	case <-done:
	case <-s.shared.queue.ending: // not its end, which waits for the caller
	case <-stop:
	}
}

// Tab returns what the limiter of the client's events counts.
func (s *Session) Tab() *link.EventTab { return &s.shared.tab }

// Refuse answers a message that could not be taken, such as one above the transport's limit.
func (s *Session) Refuse(code, message string) { s.RefuseSideband(nil, code, message) }

// RefuseSideband is Refuse for a side-band controller.
func (s *Session) RefuseSideband(from *link.SidebandController, code, message string) {
	s.post(clientMessage{Message{From: from, Refused: &room.Failure{Code: code, Message: message}}})
}

// audioBuffers has buffers for audio on its way to an actor. Otherwise each call would leave 50 of them a second to the garbage collector.
var audioBuffers = sync.Pool{New: func() any { return new([]int16) }}

// Audio implements link.Handler. Audio is dropped and counted when the queue is nearly full.
func (s *Session) Audio(pcm []int16) {
	buffer, _ := audioBuffers.Get().(*[]int16)
	*buffer = append((*buffer)[:0], pcm...)
	if !s.shared.queue.offer(audioReceived{buffer}) {
		audioBuffers.Put(buffer)
		s.shared.dropped.Add(1)
	}
}

// Missing implements link.Handler.
func (s *Session) Missing(samples int) {
	if !s.shared.queue.offer(audioMissing{samples}) {
		s.shared.dropped.Add(1)
	}
}

// Lost implements link.Handler.
func (s *Session) Lost() { s.post(machineEvent{coord.OfConn{Event: conn.Lost{}}}) }

// Restored implements link.Handler.
func (s *Session) Restored() { s.post(machineEvent{coord.OfConn{Event: conn.Restored{}}}) }

// Failed implements link.Handler. link.ErrHungUp is a client that left.
func (s *Session) Failed(err error) { s.post(fromLifetime{Failed{Err: err}}) }

// Resumable reports whether the client has said that it can reconnect over another connection.
func (s *Session) Resumable() bool { return s.shared.reconnects.Load() }

// Leave lets the session wait for its client, whose old connection is closed. Restored reports that the new one is connected. seen is
// the event_id of the client's last event that was taken, "" when none was. ok is false when the session cannot be
// continued.
func (s *Session) Leave() (seen string, ok bool) {
	answer := make(chan left, 1)
	if !s.post(leaving{answer}) {
		return "", false
	}
	select {
	case l := <-answer:
		return l.taken, l.waits
	case <-s.shared.done:
		return "", false
	}
}

// Returned reports that the client of a session that goes on here is connected.
func (s *Session) Returned() {
	if s.cfg.Kept.Restore != nil {
		s.cfg.Env.AfterFunc(survival.SettleTime, func() { s.post(clientSettled{}) })
	}
}

// Sent implements link.Handler.
func (s *Session) Sent(gen uint64, sent voice.Samples, first bool) {
	s.player.Sent(gen, sent)
	if first {
		s.shared.queue.offer(firstFrameSent{})
	}
}

// Drained implements link.Handler.
func (s *Session) Drained(gen uint64) { s.post(playerEvent{speaking.Drained{Gen: gen}}) }

// --- events that go out

// send sends an event to the client and to the side-band controllers, in order.
func (s *Session) send(e wire.ServerEvent) { s.sendThen(e, nil) }

// sendThen is send; the link's goroutine calls sent, when not nil, once the event is on its way.
func (s *Session) sendThen(e wire.ServerEvent, sent func()) { s.sendBy(s.link.Send, e, sent) }

// sendToClient sends an event only to the primary client.
func (s *Session) sendToClient(e wire.ServerEvent) {
	send := s.link.Send
	if shared := s.can.Shared; shared != nil {
		send = shared.SendToPrimary
	}
	s.sendBy(send, e, nil)
}

func (s *Session) sendBy(send func(link.Event, func()) error, e wire.ServerEvent, sent func()) {
	if s.survival.Leaves(e.Type()) {
		return
	}
	encoded := s.encodeForClient(e)
	err := send(encoded, sent)
	switch {
	case err == nil:
	case errors.Is(err, link.ErrTooLarge):
		s.log.Warn("an event was too large for the client", "bytes", len(encoded.Text))
	default:
		s.log.Debug("the client does not take events", "err", err)
		s.again(machineEvent{coord.OfConn{Event: conn.Close{Reason: conn.Overrun}}})
	}
}

// encodeForClient is encode for an event that the client gets. The journal learns of it.
func (s *Session) encodeForClient(e wire.ServerEvent) link.Event {
	number, ok := s.survival.Number(e)
	if !ok {
		return s.encode(e)
	}
	encoded := s.encoded(e)
	if encoded.Number = number; number > 0 {
		s.survival.Sends(e, encoded)
	}
	return encoded
}

// encode gives an event its id, encodes it and records it.
func (s *Session) encode(e wire.ServerEvent) link.Event {
	e.SetID(s.cfg.Env.NewID("event_"))
	return s.encoded(e)
}

func (s *Session) encoded(e wire.ServerEvent) link.Event {
	encoded := link.Encode(e)
	if s.sent += len(encoded.Text); encoded.Session != nil {
		s.sent += 7 * len(encoded.Text)
	}
	s.deck.Sent(encoded.Text)
	s.record("server", encoded.Text)
	return encoded
}

// answer sends an event only to the sender of o: real clients take every error for an answer to their own event, and some take it
// for the end of the call. Where no client's event is the origin, all clients get it.
func (s *Session) answer(o room.Origin, e wire.ServerEvent) {
	switch {
	case o.Side != nil:
		o.Side.Answer(s.encode(e))
	case o.Client:
		s.sendToClient(e)
	default:
		s.send(e)
	}
}

// fail sends the sender of o an error. The session goes on.
func (s *Session) fail(o room.Origin, f *room.Failure) {
	s.log.Debug("error event", "code", f.Code, "param", f.Param)
	s.answer(o, f.Event(o.Event))
}

// record writes down an event of the client's or of the server's; direction is "client" or "server".
func (s *Session) record(direction string, text []byte) {
	if s.cfg.Record != nil {
		s.cfg.Record(s.id, direction, text)
	}
}
