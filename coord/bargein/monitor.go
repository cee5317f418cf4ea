package bargein

// The monitor of the machine: what it remembers of earlier steps.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Level is how loud the client plays the agent.
type Level uint8

// The levels.
const (
	FullLevel Level = iota
	Lowered         // 20 dB below full level
	NoLevel         // silence
)

// Seen is what the monitor remembers of earlier steps. The numbers of responses and candidates count up, so one number is
// enough to know all older ones.
type Seen struct {
	Resp   machine.Response // the response that plays; 0 is none
	Last   machine.Response // the newest response that has played or was cut
	Cut    machine.Response // the newest response that was cut
	Newest ID               // the newest candidate that was sent to the server
	Waits  ID               // the candidate that waits for its verdict; 0 is none
	Owes   ID               // the candidate whose SendReady is still to come; 0 is none
	Full   Position         // if Owes is set: the response was played at full level up to here
	Missed bool             // if Owes is set: it was silenced since
	Armed  ID               // the candidate whose deadline runs; 0 is none
	Level  Level
	Down   bool // the connection is over
}

// see returns what the monitor remembers after step, if it remembered g before.
func see(g Seen, step edge) Seen {
	g = machine.See(g, step)
	if g.Owes == 0 {
		g.Full, g.Missed = 0, false // no invariant uses them any more
	}
	return g
}

// fits reports whether the machine must act on the event. It must ignore all other events.
func (g Seen) fits(e Event) bool {
	if g.Down {
		return false
	}
	switch e := e.(type) {
	case Began:
		return g.Waits == 0 && e.Resp > g.Last
	case Ended:
		return g.Waits == 0 && g.Owes == 0 && g.Resp != 0 && e.Resp == g.Resp
	case Onset:
		return g.Waits == 0 && g.Resp != 0
	case Sustained:
		return e.Candidate == g.Waits && g.Level == Lowered
	case VoiceEnded:
		return e.Candidate == g.Waits && g.Level == NoLevel
	case Acked:
		return e.Candidate == g.Owes
	case Passed:
		return e.Candidate == g.Owes
	case Rejected:
		return e.Candidate == g.Waits || e.Candidate == g.Owes
	case Confirmed:
		return e.Resp >= g.Last && e.Resp > g.Cut
	case Expired:
		return e.Candidate == g.Waits
	case Close:
	}
	return true
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	if !g.fits(step.Event) {
		return g
	}
	switch e := step.Event.(type) {
	case Began:
		g.Resp, g.Last, g.Owes = e.Resp, e.Resp, 0
	case Ended:
		g.Resp = 0
	case Onset:
		if g.Owes == 0 {
			g.Full = e.At
		}
	case Rejected:
		g.Waits, g.Owes, g.Armed = 0, 0, 0
	case Confirmed:
		g.Resp, g.Last, g.Waits, g.Owes, g.Armed = 0, e.Resp, 0, 0, 0
	case Expired:
		g.Waits, g.Armed = 0, 0
	case Close:
		g = Seen{Down: true, Level: g.Level, Newest: g.Newest, Last: g.Last, Cut: g.Cut}
	case Sustained, VoiceEnded, Acked, Passed:
	}
	return g
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(_ edge, f Effect) Seen {
	switch f := f.(type) {
	case Duck:
		g.Level = Lowered
	case Silence:
		g.Level, g.Missed = NoLevel, true
	case Restore:
		g.Level = FullLevel
	case SendCandidate:
		g.Newest, g.Waits, g.Owes = max(g.Newest, f.Candidate), f.Candidate, f.Candidate
	case ArmDeadline:
		g.Armed = f.Candidate
	case SendReady:
		g.Owes = 0
	case Mute:
		g.Cut = max(g.Cut, f.Resp)
	case AwaitPosition, SendHeard:
	}
	return g
}
