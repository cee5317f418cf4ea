package session

import (
	"errors"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/server/session/output"
	"github.com/antiphon-rt/antiphon/voice"
)

// The transport's callbacks. They are called from its goroutines and only post.

// Opened says that the client's data channel is open. What was sent before waits in the link.
func (s *Session) Opened() {}

// Message takes one event of the client. Binary ones are answered with an error.
func (s *Session) Message(data []byte, text bool) { s.take(nil, data, text) }

func (s *Session) take(from *call.SidebandController, data []byte, text bool) {
	if !text {
		s.queue.post(binary{from})
		return
	}
	s.queue.post(incoming{append([]byte(nil), data...), from})
}

// Audio takes audio of the client: mono, 24 kHz.
func (s *Session) Audio(pcm []int16) {
	if !s.queue.offer(audioIn{append([]int16(nil), pcm...)}) {
		s.dropped.Add(1)
	}
}

// Lost says that the client cannot be reached at the moment.
func (s *Session) Lost() { s.queue.post(coord.OfConn{Event: conn.Lost{}}) }

// Restored says that it can again.
func (s *Session) Restored() { s.queue.post(coord.OfConn{Event: conn.Restored{}}) }

// Failed says that the transport is gone for good; call.ErrHungUp is a client that left.
func (s *Session) Failed(err error) { s.queue.post(linkGone{err}) }

func (s *Session) gone(err error) {
	if s.letGo(err) {
		return
	}
	if errors.Is(err, call.ErrHungUp) {
		s.step(coord.OfConn{Event: conn.Close{Reason: conn.ByClient}})
		return
	}
	s.log.Info("the transport failed", "err", err)
	s.step(coord.OfConn{Event: conn.Close{Reason: conn.Failed}})
}

// Sent says that a frame of the reply on air has gone out, up to position sent of the reply.
func (s *Session) Sent(gen uint64, sent voice.Samples, first bool) {
	s.player.Sent(gen, sent)
	if first {
		s.queue.offer(firstSent{})
	}
}

// Drained says that segment gen was sent to its end.
func (s *Session) Drained(gen uint64) { s.queue.post(output.Drained{Gen: gen}) }

// Refuse answers a message that could not be taken, such as one above the transport's limit.
func (s *Session) Refuse(code, message string) {
	s.queue.post(untaken{nil, failure{code: code, message: message}})
}

// sendEvent gives an encoded event to the client and to the side-band controllers, in order.
func (s *Session) sendEvent(e call.Event, sent func()) { s.sendBy(s.link.Send, e, sent) }

func (s *Session) sendBy(send func(call.Event, func()) error, e call.Event, sent func()) {
	s.record("server", e.Text)
	err := send(e, sent)
	switch {
	case err == nil:
	case errors.Is(err, call.ErrTooLarge):
		s.log.Warn("an event was too large for the client", "bytes", len(e.Text))
	default:
		s.log.Debug("the client does not take events", "err", err)
		s.again(coord.OfConn{Event: conn.Close{Reason: conn.Overrun}})
	}
}
