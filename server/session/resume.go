package session

import (
	"errors"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/server/call"
)

// A client that knows our extensions may lose its connection and come back over another one: the session waits for it.

const (
	// keep is how long a session waits for such a client.
	keep = 60 * time.Second
	// filled is how much silence a transport makes up for audio that does not come, at most, and usuallyLost how long a client is
	// gone before that is noticed, where it sends no audio.
	filled, usuallyLost = 2 * time.Second, 4 * time.Second
	// maxAgain is the most of a reply that is said again.
	maxAgain = 8 * time.Second
)

// leaving asks the session to wait for its client, which comes back over another connection.
type leaving struct{ answer chan<- left }

type left struct {
	seen string
	ok   bool
}

// Resumable reports whether the client may come back over another connection: it has said that it knows how.
func (s *Session) Resumable() bool { return s.resumable.Load() }

// Leave has the session wait for its client, whose old connection is closed; Restored says that the new one stands. seen is the
// event_id of the last event of the client's that was taken, "" when none was. ok is false when there is nothing to come back to.
func (s *Session) Leave() (seen string, ok bool) {
	answer := make(chan left, 1)
	if !s.queue.post(leaving{answer}) {
		return "", false
	}
	select {
	case l := <-answer:
		return l.seen, l.ok
	case <-s.done:
		return "", false
	}
}

func (s *Session) leave(e leaving) {
	if !conn.Up(s.state.Conn) || !s.resumable.Load() {
		e.answer <- left{}
		return
	}
	if away, is := s.state.Conn.(conn.Interrupted); is {
		s.armGrace(away.Gen) // it is on its way: it has the whole time once more
	} else {
		s.step(coord.OfConn{Event: conn.Lost{}})
	}
	e.answer <- left{s.taken, true}
}

// took notes the client's event in hand. Those of whoever controls the call from the side are not the client's.
func (s *Session) took(event string) {
	if event != "" && s.side == nil {
		s.taken = event
	}
}

// letGo gives a dead connection up, if the client may come back over another one.
func (s *Session) letGo(err error) bool {
	link := s.can.Reconnectable
	if link == nil || !s.resumable.Load() || !conn.Up(s.state.Conn) || !errors.Is(err, call.ErrUnreachable) {
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
	if s.resumable.Load() {
		wait = s.cfg.Keep
	}
	s.log.Info("the transport is lost", "grace", wait)
	s.after("grace", wait, coord.OfConn{Event: conn.GraceExpired{Gen: gen}})
}

// followLink holds the agent's voice as long as nobody can hear it: the reply on air, and one that begins meanwhile.
func (s *Session) followLink() {
	s.playing(s.player.FollowLink(&s.state, s.sinceLastHeard))
}

// sinceLastHeard is how much of what was sent last may not have reached a client that has just been found to be gone: what was
// sent since it was heard itself, and half a second that was under way.
func (s *Session) sinceLastHeard() time.Duration {
	gone := s.now().Sub(s.input.LastAudio()) + filled
	if s.input.LastAudio().IsZero() {
		gone = usuallyLost
	}
	return min(gone+500*time.Millisecond, maxAgain)
}
