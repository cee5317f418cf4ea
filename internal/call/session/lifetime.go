package session

// A Lifetime: when and why a session ends, and the events with which the client learns of it.

import (
	"cmp"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/call/survival"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/wire"
)

// The usual Limits. Longest is the protocol's.
const (
	Grace       = 20 * time.Second
	Keep        = 60 * time.Second
	Longest     = 60 * time.Minute
	LongestCall = 12 * time.Hour
)

// noticeBefore is how long before its end a session says that its time is nearly over.
const noticeBefore = time.Minute

// Limits are the times that bound a session.
type Limits struct {
	Longest time.Duration // how long the session may be
	Left    time.Duration // how long a session may be yet that another process has begun; 0 takes Longest
	Call    time.Duration // how long the call may be, with all its sessions
	CallEnd int64         // when it has been so long, in seconds since 1970
	Grace   time.Duration // how long a lost transport may take to come back
	Keep    time.Duration // Grace for a client that may come back over another connection
}

// lifetimeParts are the other parts of the session that a Lifetime uses.
type lifetimeParts struct {
	Env      env.Env
	Log      *slog.Logger
	Limits   Limits
	Settings *conversation.Settings
	// Reconnects reports that the client may come back over another connection.
	Reconnects *atomic.Bool
	// Input has audio that the client may yet commit. Generator runs the tools of the server. The end of the session would lose both.
	Input     *listening.Listening
	Generator *speaking.Generator
	Survival  *survival.Survival
	// ServerPaced reports that the server paces the audio: the transport is WebRTC.
	ServerPaced bool
	// Link is the connection, nil for one over which no client can reconnect.
	Link link.Reconnectable
	// Post takes the events of the timers, from any goroutine. It reports false when the session has ended.
	Post func(lifetimeEvent) bool
}

// Lifetime decides when a session ends. See the package comment.
type Lifetime struct {
	lifetimeParts
	timers  *env.Timers
	expires int64 // when the session's time is over, in seconds since 1970
	failure error // why the transport failed for good; nil while it has not
}

// lifetimeEvent is an event of a Lifetime: it has posted the event, or the event happens to the transport.
//
//sumtype:decl
type lifetimeEvent interface{ lifetime() }

type (
	// TimeUp: the session has lasted for Limits.Longest.
	TimeUp struct{}
	// ExpiryNear comes noticeBefore TimeUp.
	ExpiryNear struct{}
	// MoveDue comes some minutes before TimeUp: the call may go on in a fresh session.
	MoveDue struct{}
	// GraceOver ends the wait for a client that is away.
	GraceOver conn.GraceExpired
	// Failed: the transport is gone, for the reason Err.
	Failed struct{ Err error }
	// Drain asks the session to end at the next pause, and after Within in any case: the server stops.
	Drain struct{ Within time.Duration }
	// PauseDue: it is time to look for a pause, at which the session ends for the reason Why. The Quiet checks before were quiet.
	PauseDue struct {
		Quiet int
		Why   conn.Reason
	}
	// DrainOver ends the wait for a pause.
	DrainOver struct{}
)

func (TimeUp) lifetime()     {}
func (ExpiryNear) lifetime() {}
func (MoveDue) lifetime()    {}
func (GraceOver) lifetime()  {}
func (Failed) lifetime()     {}
func (Drain) lifetime()      {}
func (PauseDue) lifetime()   {}
func (DrainOver) lifetime()  {}

// Begin begins the session's time. expires is session.expires_at, from which a client knows when it will be over.
func (l *Lifetime) Begin(expires int64) {
	l.expires = expires
	left := cmp.Or(l.Limits.Left, l.Limits.Longest)
	l.after("longest", left, TimeUp{})
	l.after("expiry", max(0, left-noticeBefore), ExpiryNear{})
	if l.Limits.CallEnd > expires {
		l.after("move", left-min(moveBefore, left/2), MoveDue{})
	}
}

// Close stops the timers.
func (l *Lifetime) Close() { l.timers.StopAll() }

// Handle takes an event.
func (l *Lifetime) Handle(e lifetimeEvent, s *coord.State) room.List {
	switch e := e.(type) {
	case TimeUp:
		return end(l.timeUp())
	case ExpiryNear:
		return l.expiryNear(s)
	case MoveDue:
		l.moveDue()
		return nil
	case GraceOver:
		return step(conn.GraceExpired(e))
	case Failed:
		return l.failed(e.Err, s)
	case Drain:
		return l.drain(e.Within, s)
	case PauseDue:
		return l.pauseDue(e, s)
	case DrainOver:
		return end(conn.ServerStops)
	}
	return nil
}

// expiryNear tells a client that knows our extensions that it should call again soon. Other clients would take an error for
// the end.
func (l *Lifetime) expiryNear(s *coord.State) (out room.List) {
	if !conn.Up(s.Conn) || l.moves() {
		return nil
	}
	left := min(noticeBefore, l.Limits.Longest)
	l.Log.Info("the session's time is nearly over", "left", left)
	if l.Settings.Client.Extended {
		out.Send(&wire.AntiphonSessionExpiring{ExpiresAt: int(l.expires), SecondsLeft: int(left.Seconds())})
	}
	return out
}

// Explain returns the event that tells the client why the session ends, and who gets the event, where the client has not caused the
// end.
func (l *Lifetime) Explain(why conn.Reason) (o room.Origin, out room.List) {
	switch {
	case why == conn.TimeLimit:
		out.Fail(&room.Failure{
			Code:    "session_expired",
			Message: fmt.Sprintf("Your session hit the maximum duration of %g minutes: open another one to go on.", l.limit().Minutes()),
		})
	case why == conn.Moves, why == conn.ServerStops && l.Settings.Client.Extended && l.Survival.Survives():
		o.Client = true
		out.Send(&wire.AntiphonSessionMoving{})
	case why == conn.ServerStops && l.ServerPaced: // the end of a WebSocket has a code and a reason, that of a data channel has none
		o.Client = true
		out.Fail(&room.Failure{Type: room.TypeServer, Code: "server_stopping", Message: "the server is stopping: call again in a moment"})
	}
	return o, out
}

// after posts e once d has passed. A timer of the same name is replaced.
func (l *Lifetime) after(name string, d time.Duration, e lifetimeEvent) {
	l.timers.Start(name, d, func() { l.Post(e) })
}

func step(e conn.Event) (out room.List) {
	out.Step(coord.OfConn{Event: e})
	return out
}

func end(why conn.Reason) room.List { return step(conn.Close{Reason: why}) }
