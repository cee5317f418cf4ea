package session

// A client that knows our extensions may lose its connection and reconnect over another one: the session waits for it.

import (
	"errors"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
)

// Leave notes that the client is about to reconnect over another connection. waits is false when the session cannot be continued.
func (l *Lifetime) Leave(s *coord.State) (out room.List, waits bool) {
	if !conn.Up(s.Conn) || !l.Reconnects.Load() {
		return nil, false
	}
	if away, is := s.Conn.(conn.Interrupted); is {
		l.armGrace(away.Gen) // the client is on its way: it has the whole time once more
		return nil, true
	}
	return step(conn.Lost{}), true
}

// failed ends the session, or waits for a client that may come back.
func (l *Lifetime) failed(err error, s *coord.State) room.List {
	switch {
	case l.Link != nil && l.Reconnects.Load() && conn.Up(s.Conn) && errors.Is(err, link.ErrUnreachable):
		l.Log.Debug("the connection is gone", "err", err)
		l.Link.DropConnection()
		return step(conn.Lost{})
	case errors.Is(err, link.ErrHungUp):
		return end(conn.ByClient)
	}
	l.failure = err
	return end(conn.Failed)
}

// LogEnd logs why the session ends. dropped is how many frames of the client's audio had no room in the queue.
func (l *Lifetime) LogEnd(why conn.Reason, dropped int64) {
	about := []any{"reason", why, "dropped_audio_frames", dropped}
	if l.failure != nil {
		about = append(about, "err", l.failure)
	}
	l.Log.Info("session ends", about...)
}

// ArmGrace bounds the wait for a client whose connection is interrupted.
func (l *Lifetime) ArmGrace(gen uint32) {
	l.Log.Info("connection interrupted", "grace", l.armGrace(gen))
}

// armGrace begins the grace period, and returns how long it is.
func (l *Lifetime) armGrace(gen uint32) time.Duration {
	wait := l.Limits.Grace
	if l.Reconnects.Load() {
		wait = l.Limits.Keep
	}
	l.after("grace", wait, GraceOver{Gen: gen})
	return wait
}
