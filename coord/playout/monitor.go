package playout

// The monitor of the machine: what it remembers of earlier steps.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Seen is what the monitor remembers of earlier steps. The numbers of responses count up, so one number is enough to know
// all that have ended.
type Seen struct {
	Ended     machine.Response // the newest response that was drained or dropped
	Resp      machine.Response // the response that plays or is held; 0 is none
	Started   bool             // its start was announced, its end was not
	Tail      bool             // it is held after its end was announced
	Sounds    bool             // the audio of Resp goes out
	Candidate machine.Turn     // the candidate that Resp is held for; 0 is none
	Client    machine.Turn     // the candidate on which the client waits for a verdict; 0 is none
	Awaits    bool             // the client's ready has not come
	Rejected  bool             // the candidate was rejected before the ready came
	At        Position         // the position at which Resp was held or cut
	Last      machine.Response // the response that was drained last, if none has begun since and its end was not played again; 0 is none
	Cut       machine.Response // the dropped response about which the client still has to report; 0 is none
	Gen       uint32           // the generation of the newest segment
	Down      bool             // the session has ended
}

// see returns what the monitor remembers after step, if it remembered g before.
func see(g Seen, step edge) Seen {
	g = machine.See(g, step)
	if g.Sounds || g.Resp == 0 && g.Cut == 0 {
		g.At = Position{} // no invariant uses it any more
	}
	return g
}

// fits reports whether the machine must act on the event. It must ignore all other events.
func (g Seen) fits(e Event) bool {
	if g.Down {
		return false
	}
	switch e := e.(type) {
	case Begin:
		return g.Resp == 0 && g.Cut == 0
	case Drained:
		return g.Sounds && e.Resp == g.Resp && e.Gen == g.Gen
	case Candidate:
		return g.Sounds || g.Resp != 0 && (e.Reports || g.Rejected) || g.Last != 0 && e.Reports
	case Ready:
		return g.Awaits && e.Candidate == g.Client
	case ReadyExpired:
		return g.Awaits && e.Candidate == g.Client
	case Confirm:
		return g.judges(e.Candidate)
	case Reject:
		return g.judges(e.Candidate)
	case Clear:
		return g.Resp != 0 || g.Last != 0
	case Heard:
		return g.Cut != 0 && e.Resp == g.Cut
	case HeardExpired:
		return g.Cut != 0 && e.Resp == g.Cut
	case Missed:
		return e.Resp == g.Resp && g.known() || g.Last != 0 && e.Resp == g.Last
	case Shutdown:
	}
	return true
}

// judges reports whether a verdict on t is the first verdict on the candidate that the response is held for.
func (g Seen) judges(t machine.Turn) bool { return g.Candidate != 0 && t == g.Candidate && !g.Rejected }

// known reports whether the client has been told of the response that plays or is held.
func (g Seen) known() bool { return g.Started || g.Tail }

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	if !g.fits(step.Event) {
		return g
	}
	switch e := step.Event.(type) {
	case Begin:
		g.Resp, g.Candidate, g.At, g.Last = e.Resp, e.Candidate, Position{}, 0
	case Candidate:
		g = g.held(e)
	case Ready:
		if g.Awaits = false; g.known() {
			g.At = e.At
		}
	case ReadyExpired:
		g.Awaits = false
	case Reject:
		g.Rejected = g.Awaits
	case Clear:
		if g.Last = 0; g.Sounds {
			g.At = e.Heard
		}
	case Heard:
		g.At = e.At
	case Missed:
		if g.Resp == 0 {
			g.Resp, g.Ended, g.Tail, g.Last, g.Candidate = e.Resp, e.Resp-1, true, 0, e.Candidate
		}
		g.At = e.From
	case Shutdown:
		g.Down, g.Last, g.Cut = true, 0, 0
	case Drained, Confirm, HeardExpired:
	}
	return g
}

// held returns what the monitor remembers after the response is held for e. It may have been held before.
func (g Seen) held(e Candidate) Seen {
	switch {
	case g.Sounds:
		g.At = e.Heard
	case g.Resp == 0:
		g.Resp, g.Last, g.Tail, g.At = g.Last, 0, true, e.Heard
		g.Ended = g.Resp - 1
	}
	if g.Candidate, g.Rejected = e.Candidate, false; e.Reports {
		g.Client, g.Awaits = e.Candidate, true
	}
	return g
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(_ edge, f Effect) Seen {
	switch f := f.(type) {
	case Play:
		g = g.goesOn(f.Gen)
	case RewindAndResume:
		g = g.goesOn(f.Gen)
	case Hold:
		g.Sounds = false
	case Drop:
		g.Ended, g.Resp, g.Sounds, g.Tail = max(g.Ended, f.Resp), 0, false, false
		g.Candidate, g.Client, g.Awaits, g.Rejected = 0, 0, false, false
	case EmitStarted:
		g.Started, g.Tail = true, false
	case EmitStopped:
		g.Ended, g.Resp, g.Sounds, g.Started, g.Last = max(g.Ended, f.Resp), 0, false, false, f.Resp
	case EmitCleared:
		g.Started = false
	case EmitRejected:
		g.Client = 0
	case AwaitHeard:
		g.Cut = f.Resp
	case Truncate:
		g.Cut = 0
	case AwaitReady:
	}
	return g
}

// goesOn returns what the monitor remembers after a segment with generation gen has begun.
func (g Seen) goesOn(gen uint32) Seen {
	g.Sounds, g.Candidate, g.Rejected, g.Gen = true, 0, false, max(g.Gen, gen)
	return g
}
