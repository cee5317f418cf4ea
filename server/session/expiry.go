package session

import (
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/wire"
)

// noticeBefore is how long before its end a session says that its time is nearly over.
const noticeBefore = time.Minute

// expiring is posted noticeBefore the end.
type expiring struct{}

// limitTime begins the session's time. A client knows from session.expires_at when it will be over.
func (s *Session) limitTime() {
	s.after("longest", s.cfg.Longest, coord.OfConn{Event: conn.Close{Reason: conn.TimeLimit}})
	s.after("expiring", max(0, s.cfg.Longest-noticeBefore), expiring{})
}

// expiring tells a client that knows our extensions that it should call again soon. Others would take an error for the end.
func (s *Session) expiring() {
	if !conn.Up(s.state.Conn) {
		return
	}
	left := min(noticeBefore, s.cfg.Longest)
	s.log.Info("the session's time is nearly over", "left", left)
	if s.extended {
		s.send(&wire.AntiphonSessionExpiring{ExpiresAt: int(s.settings.Current().ExpiresAt), SecondsLeft: int(left.Seconds())})
	}
}

// sayWhy tells the client of an end that is not its doing.
func (s *Session) sayWhy(why conn.Reason) {
	switch {
	case why == conn.TimeLimit:
		s.fail(failure{
			code:    "session_expired",
			message: fmt.Sprintf("Your session hit the maximum duration of %g minutes: open another one to go on.", s.cfg.Longest.Minutes()),
		})
	case why == conn.ServerStops && s.player.ServerPaced(): // a WebSocket's end has a code and a reason, a data channel's has not
		s.tellClient(s.problem(failure{
			kind: typeServer, code: "server_stopping", message: "the server is stopping: call again in a moment",
		}))
	}
}
