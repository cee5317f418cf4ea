package session

// A client that knows our extensions may lose its connection and come back over another one: the session waits for it.

import (
	"errors"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/server/call"
)

const (
	// keep is how long a session waits for such a client.
	keep = 60 * time.Second
	// filledIn is the most silence that a transport makes up for audio that does not come. usuallyLost is how long a client
	// that sends no audio is gone before that is noticed.
	filledIn, usuallyLost = 2 * time.Second, 4 * time.Second
	// onTheWay is how much audio may have been on the way when the client was lost.
	onTheWay = 500 * time.Millisecond
	// maxReplayed is the most audio of a response that is played again.
	maxReplayed = 8 * time.Second
)

// left is the answer to leaving: the event_id of the client's last event, and whether the session waits.
type left struct {
	taken string
	ok    bool
}

// Resumable reports whether the client may come back over another connection: it has said that it knows how.
func (s *Session) Resumable() bool { return s.shared.reconnects.Load() }

// Leave has the session wait for its client, whose old connection is closed; Restored says that the new one stands. seen is
// the event_id of the client's last event that was taken, "" when none was. ok is false when there is nothing to come back
// to.
func (s *Session) Leave() (seen string, ok bool) {
	answer := make(chan left, 1)
	if !s.post(leaving{answer}) {
		return "", false
	}
	select {
	case l := <-answer:
		return l.taken, l.ok
	case <-s.shared.done:
		return "", false
	}
}

func (s *Session) leave(e leaving) {
	if !conn.Up(s.machines.state.Conn) || !s.Resumable() {
		e.answer <- left{}
		return
	}
	if away, is := s.machines.state.Conn.(conn.Interrupted); is {
		s.armGrace(away.Gen) // the client is on its way: it has the whole time once more
	} else {
		s.step(coord.OfConn{Event: conn.Lost{}})
	}
	e.answer <- left{s.client.Taken(), true}
}

// transportFailed ends the session, or waits for a client that may come back.
func (s *Session) transportFailed(err error) {
	switch {
	case s.waitsFor(err):
	case errors.Is(err, call.ErrHungUp):
		s.step(coord.OfConn{Event: conn.Close{Reason: conn.ByClient}})
	default:
		s.log.Info("the transport failed", "err", err)
		s.step(coord.OfConn{Event: conn.Close{Reason: conn.Failed}})
	}
}

// waitsFor gives up a dead connection and reports true if the client may come back over another one.
func (s *Session) waitsFor(err error) bool {
	link := s.can.Reconnectable
	if link == nil || !s.Resumable() || !conn.Up(s.machines.state.Conn) || !errors.Is(err, call.ErrUnreachable) {
		return false
	}
	s.log.Info("the connection is gone: the session waits for its client", "wait", s.cfg.Keep, "err", err)
	link.DropConnection()
	s.step(coord.OfConn{Event: conn.Lost{}})
	return true
}

// armGrace bounds the wait for a client that is away.
func (s *Session) armGrace(gen uint32) {
	wait := s.cfg.Grace
	if s.Resumable() {
		wait = s.cfg.Keep
	}
	s.log.Info("the transport is lost", "grace", wait)
	s.after("grace", wait, machineEvent{coord.OfConn{Event: conn.GraceExpired{Gen: gen}}})
}

// sinceLastHeard is how much of what was sent last may not have reached a client that has just been found to be gone: what
// was sent since the client's last audio, and what was on the way then.
func (s *Session) sinceLastHeard() time.Duration {
	gone := s.now().Sub(s.input.LastAudio()) + filledIn
	if s.input.LastAudio().IsZero() {
		gone = usuallyLost
	}
	return min(gone+onTheWay, maxReplayed)
}
