package session

// The end of a session's time, and what the client is told of an end that is not its doing.

import (
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/server/session/client"
	"github.com/antiphon-rt/antiphon/server/session/fault"
	"github.com/antiphon-rt/antiphon/wire"
)

// noticeBefore is how long before its end a session says that its time is nearly over.
const noticeBefore = time.Minute

// limitTime begins the session's time. A client knows from session.expires_at when it will be over.
func (s *Session) limitTime() {
	s.after("longest", s.cfg.Longest, machineEvent{coord.OfConn{Event: conn.Close{Reason: conn.TimeLimit}}})
	s.after("expiry", max(0, s.cfg.Longest-noticeBefore), expiryNear{})
}

// expiryNear tells a client that knows our extensions that it should call again soon. Other clients would take an error for
// the end.
func (s *Session) expiryNear() {
	if !conn.Up(s.machines.state.Conn) {
		return
	}
	left := min(noticeBefore, s.cfg.Longest)
	s.log.Info("the session's time is nearly over", "left", left)
	if s.client.Extended() {
		s.send(&wire.AntiphonSessionExpiring{ExpiresAt: int(s.settings.Current().ExpiresAt), SecondsLeft: int(left.Seconds())})
	}
}

// explainEnd tells the client of an end that is not its doing.
func (s *Session) explainEnd(why conn.Reason) {
	switch {
	case why == conn.TimeLimit:
		s.fail(client.Origin{}, &fault.Failure{
			Code:    "session_expired",
			Message: fmt.Sprintf("Your session hit the maximum duration of %g minutes: open another one to go on.", s.cfg.Longest.Minutes()),
		})
	case why == conn.ServerStops && s.player.ServerPaced(): // the end of a WebSocket has a code and a reason, that of a data channel has none
		stopping := &fault.Failure{Type: fault.TypeServer, Code: "server_stopping", Message: "the server is stopping: call again in a moment"}
		s.fail(client.Origin{Client: true}, stopping)
	}
}
