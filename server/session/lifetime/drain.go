package lifetime

// The end of a session whose server stops: it tells the client, and ends the session at the next pause.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/session/action"
	"github.com/antiphon-rt/antiphon/wire"
)

// A drained session ends once nobody has spoken or been answered for quietChecks checks in a row.
const (
	checkEvery  = 250 * time.Millisecond
	quietChecks = 4
)

// drain tells a client that knows our extensions when the session ends at the latest, and begins to look for a pause.
func (l *Lifetime) drain(within time.Duration, s *coord.State) (out action.List) {
	l.Log.Info("the session ends at a pause, because the server stops", "within", within)
	if l.Client.Extended() && conn.Up(s.Conn) {
		out.Send(&wire.AntiphonSessionExpiring{ExpiresAt: int(l.Env.Now().Add(within).Unix()), SecondsLeft: int(within.Seconds())})
	}
	l.after("drain", within, DrainOver{})
	l.after("pause", checkEvery, PauseDue{})
	return out
}

// pauseDue ends a drained session if it has been quiet for long enough. quiet counts the checks before this one.
func (l *Lifetime) pauseDue(quiet int, s *coord.State) action.List {
	if !paused(s) {
		quiet = -1
	}
	if quiet+1 >= quietChecks {
		return end(conn.ServerStops)
	}
	l.after("pause", checkEvery, PauseDue{Quiet: quiet + 1})
	return nil
}

// paused reports whether nobody speaks and nothing is owed: no turn is open or waits, no response is live, and no audio plays.
func paused(s *coord.State) bool {
	_, idle := s.Turn.(turn.Idle)
	_, answered := s.Response.(response.Idle)
	_, silent := s.Playout.(playout.Silent)
	return idle && answered && silent && s.Waiting == 0 && s.Queued == coord.Queue{}
}
