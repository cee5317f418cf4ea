package playout

// The monitor of the machine: what it remembers of earlier steps, and the list of invariants that it checks.

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
	Tail      bool        // its end was announced, and it is held after that
	Sounds    bool        // its audio goes out
	Candidate id.Turn     // it is held for this one; 0 is none
	Client    id.Turn     // the client waits for the verdict on this one; 0 is none
	Awaits    bool        // and its ready has not come
	Rejected  bool        // and the verdict came first
	At        Mark        // where it was held, or cut off
	Last      id.Response // drained, and neither said again nor followed by another; 0 is none
	Cut       id.Response // dropped, and what was heard of it is awaited; 0 is none
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
		{Name: "ReadyIsAwaited", Holds: readyIsAwaited},
		{Name: "HeardIsAwaited", Holds: heardIsAwaited},
		{Name: "VerdictOnce", Holds: verdictOnce},
		{Name: "GenGrows", Holds: genGrows},
		{Name: "StaleIsHarmless", Holds: staleIsHarmless},
	},
}

func see(g Seen, step edge) Seen {
	g = g.event(step.Event)
	for _, f := range step.Effects {
		g = g.effect(f)
	}
	if g.Sounds || g.Resp == 0 && g.Cut == 0 {
		g.At = Mark{} // nobody asks any more
	}
	return g
}

// fits says whether an event is about what sounds, is held or was cut off.
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
	case Shutdown:
	}
	return true
}

func (g Seen) judges(t id.Turn) bool { return g.Candidate != 0 && t == g.Candidate && !g.Rejected }

// known: the client heard of the reply that sounds or is held.
func (g Seen) known() bool { return g.Started || g.Tail }

// event counts what the event says: what a reply is held for is not in the effect.
func (g Seen) event(e Event) Seen {
	if !g.fits(e) {
		return g
	}
	switch e := e.(type) {
	case Begin:
		g.Resp, g.Candidate, g.At, g.Last = e.Resp, e.Candidate, Mark{}, 0
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
	case Shutdown:
		g.Down, g.Last, g.Cut = true, 0, 0
	case Drained, Confirm, HeardExpired:
	}
	return g
}

// held: the reply is held for e, one that was held already too.
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

func (g Seen) effect(f Effect) Seen {
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

func (g Seen) goesOn(gen uint32) Seen {
	g.Sounds, g.Candidate, g.Rejected, g.Gen = true, 0, false, max(g.Gen, gen)
	return g
}

func each(before Seen, step edge, holds func(Seen, Effect) bool) bool {
	return machine.Each(before.event(step.Event), step.Effects, Seen.effect, holds)
}
