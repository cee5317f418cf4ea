package session

// The end of a session whose server stops: it tells the client, and ends the session at the next pause.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// A session that is drained or moves ends once nobody has spoken or been answered for quietChecks checks in a row.
const (
	checkEvery  = 250 * time.Millisecond
	quietChecks = 4
)

// drain tells a client that knows our extensions when the session ends at the latest, and begins to look for a pause.
func (l *Lifetime) drain(within time.Duration, s *coord.State) (out room.List) {
	l.Log.Info("the session ends at a pause, because the server stops", "within", within)
	if l.Settings.Client.Extended && conn.Up(s.Conn) {
		out.Send(&wire.AntiphonSessionExpiring{ExpiresAt: int(l.Env.Now().Add(within).Unix()), SecondsLeft: int(within.Seconds())})
	}
	l.after("drain", within, DrainOver{})
	l.after("pause", checkEvery, PauseDue{Why: conn.ServerStops})
	return out
}

// pauseDue ends a session if it has been quiet for long enough.
func (l *Lifetime) pauseDue(e PauseDue, s *coord.State) room.List {
	e.Quiet++
	speaks := !l.ServerPaced && l.Input.Uncommitted() // over WebRTC the microphone sends audio all the time
	if !paused(s) || speaks || l.Generator.ToolsRun() || l.Generator.OutOfBand() > 0 {
		e.Quiet = 0
	}
	if e.Quiet >= quietChecks {
		return end(e.Why)
	}
	l.after("pause", checkEvery, e)
	return nil
}

// paused reports whether nobody speaks and nothing is owed: no turn is open or waits, no response is live, and no audio plays.
func paused(s *coord.State) bool {
	_, idle := s.Turn.(turn.Idle)
	_, answered := s.Response.(response.Idle)
	_, silent := s.Playout.(playout.Silent)
	return idle && answered && silent && s.Waiting == 0 && s.Queued == coord.Queue{}
}
