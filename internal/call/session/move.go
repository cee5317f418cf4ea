package session

// The end of a session whose call goes on in a fresh one: its client reconnects, and the journal has the conversation.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
)

// moveBefore is how long before the end of a session a pause is looked for at which the call moves to a fresh session. It is half of a session that is
// shorter than twice as long.
const moveBefore = 5 * time.Minute

// moves reports whether the call goes on in a fresh session after this one: the client knows how, the journal has the conversation, and the call may last
// longer.
func (l *Lifetime) moves() bool {
	return l.Survival.Survives() && l.Limits.CallEnd > l.expires
}

// moveDue begins to look for a pause if the call is to move.
func (l *Lifetime) moveDue() {
	if !l.moves() {
		return
	}
	l.Log.Info("the call moves to a fresh session at a pause, because the time of this one is nearly over")
	l.after("pause", checkEvery, PauseDue{Why: conn.Moves})
}

// timeUp returns why the session ends when its time is over.
func (l *Lifetime) timeUp() conn.Reason {
	if l.moves() {
		return conn.Moves
	}
	return conn.TimeLimit
}

// limit returns how long the session may be, or the call if it may not go on in a further session.
func (l *Lifetime) limit() time.Duration {
	if l.Limits.CallEnd == l.expires {
		return l.Limits.Call
	}
	return l.Limits.Longest
}
