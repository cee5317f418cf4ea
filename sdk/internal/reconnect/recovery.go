package reconnect

// When which step is due.

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
)

// firstPause is the pause before the first dial. It doubles with each dial that fails, up to longestPause.
const firstPause, longestPause = 250 * time.Millisecond, 5 * time.Second

// Step is what a session does to bring a connection back.
type Step uint8

// The steps.
const (
	Restart Step = iota // the connection has been interrupted for long enough: look for another path
	Redial              // the next dial is due
	Abort               // the present dial takes too long
)

// Recovery is how far the attempt to bring a lost connection back has come.
type Recovery struct {
	Due   time.Duration // when the session takes Step; deadline.Never while it waits for something else
	Step  Step
	Tries int           // redials that have failed
	Lost  time.Duration // when the connection was lost
	Quiet bool          // the connection is lost because no packet came, so that it is back when one comes
	Shown bool          // the user sees why the connection is lost
	Fresh bool          // a new conversation has begun, and the server has not created its session yet
}

// New returns the recovery of a connection that is not lost.
func New() Recovery { return Recovery{Due: deadline.Never} }

// Lose returns the recovery of a connection that was lost now.
func Lose(now time.Duration) Recovery { return Recovery{Due: deadline.Never, Lost: now} }

// Plan sets the next step and when it is due.
func (r *Recovery) Plan(step Step, due time.Duration) { r.Step, r.Due = step, due }

// Take returns the step that is due. No step is due after it.
func (r *Recovery) Take() Step {
	r.Due = deadline.Never
	return r.Step
}

// Pause returns how long to wait before the next dial, at most.
func (r *Recovery) Pause() time.Duration { return min(firstPause<<min(r.Tries, 10), longestPause) }
