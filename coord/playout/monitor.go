package playout

import (
	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/coord/machine"
)

type edge = machine.Edge[State, Event, Effect]

// Seen is what a monitor remembers of a run, however long: replies count up, so
// one number stands for all that have ended.
type Seen struct {
	Ended     id.Response // newest reply that was drained or dropped
	Resp      id.Response // the reply that sounds or is held; 0 is none
	Started   bool        // its start was announced, its end was not
	Sounds    bool        // its audio goes out
	Candidate id.Turn     // it is held for this one; 0 is none
	At        Mark        // where it was held
	Gen       uint32      // newest segment
	Down      bool
}

// Monitor watches the machine: it is evaluated by the explore tests, by whoever
// simulates sessions, and by a server that is asked to check itself.
var Monitor = machine.Monitor[State, Event, Effect, Seen]{
	See: see,
	Invariants: []machine.Invariant[State, Event, Effect, Seen]{
		{Name: "NothingHeardAfterCleared", Holds: nothingHeardAfterCleared},
		{Name: "TruncateWithinSent", Holds: truncateWithinSent},
		{Name: "StartedThenStoppedOrCleared", Holds: startedThenStoppedOrCleared},
		{Name: "HoldEndsByVerdict", Holds: holdEndsByVerdict},
		{Name: "SilentWhileHeld", Holds: silentWhileHeld},
		{Name: "NoWordLost", Holds: noWordLost},
		{Name: "GenGrows", Holds: genGrows},
		{Name: "StaleIsHarmless", Holds: staleIsHarmless},
	},
}

func see(g Seen, step edge) Seen {
	g = g.event(step)
	for _, f := range step.Effects {
		g = g.effect(f)
	}
	return g
}

// event counts what the event says: what a reply is held for is not in the effect.
func (g Seen) event(step edge) Seen {
	switch e := step.Event.(type) {
	case Begin:
		if g.Resp == 0 && !g.Down {
			g.Resp, g.Candidate, g.At = e.Resp, e.Candidate, Mark{}
		}
	case Candidate:
		if g.Sounds {
			g.Candidate, g.At = e.Candidate, e.Heard
		}
	case Clear:
		if g.Sounds {
			g.At = e.Heard
		}
	case Shutdown:
		g.Down = true
	case Drained, Confirm, Reject:
	}
	return g
}

func (g Seen) effect(f Effect) Seen {
	switch f := f.(type) {
	case Play:
		g.Sounds, g.Candidate, g.Gen = true, 0, max(g.Gen, f.Gen)
	case RewindAndResume:
		g.Sounds, g.Candidate, g.Gen = true, 0, max(g.Gen, f.Gen)
	case Hold:
		g.Sounds = false
	case Drop:
		g.Ended, g.Resp, g.Sounds, g.Candidate = max(g.Ended, f.Resp), 0, false, 0
	case EmitStarted:
		g.Started = true
	case EmitStopped:
		g.Ended, g.Resp, g.Sounds, g.Started = max(g.Ended, f.Resp), 0, false, false
	case EmitCleared:
		g.Started = false
	case Truncate:
	}
	return g
}

func each(before Seen, step edge, holds func(Seen, Effect) bool) bool {
	return machine.Each(before.event(step), step.Effects, Seen.effect, holds)
}
