package draft

// The monitor of the machine: its invariants, and what they remember of earlier steps.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Seen is what the monitor remembers of earlier steps.
type Seen struct {
	Gen       uint32       // the newest draft
	Works     bool         // this draft is at work
	Turn      machine.Turn // of this draft; 0 while none is at work
	Committed bool         // that turn is committed
	Body      bool         // the body of a response runs
	Down      bool
}

// Monitor checks the invariants of the machine after every step. The explore tests use it, and so do simulations of sessions and a server
// that is configured to check its invariants.
var Monitor = machine.Monitor[State, Event, Effect, Seen]{
	See: machine.See[State, Event, Effect, Seen],
	Invariants: []machine.Invariant[State, Event, Effect, Seen]{
		{Name: "OneDraft", Holds: oneDraft},
		{Name: "AloneAtWork", Holds: aloneAtWork},
		{Name: "AdoptedWhenCertain", Holds: adoptedWhenCertain},
		{Name: "StoppedOnce", Holds: stoppedOnce},
		{Name: "GoneWhenWrong", Holds: goneWhenWrong},
		{Name: "StateAgrees", Holds: stateAgrees},
	},
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	switch e := step.Event.(type) {
	case Committed:
		g.Committed = g.Committed || g.Works && e.Turn == g.Turn
	case Began:
		g.Body = !g.Down
	case Over:
		g.Body = false
	case Shutdown:
		g.Down, g.Body = true, false
	case Likely, Resumed, Dropped, Failed:
	}
	return g
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(step edge, f Effect) Seen {
	switch f := f.(type) {
	case Start:
		g.Gen, g.Works = max(g.Gen, f.Gen), true
		if e, is := step.Event.(Likely); is {
			g.Turn = e.Turn
		}
	case Stop, Adopt:
		g.Works, g.Turn, g.Committed = false, 0, false
	}
	return g
}

// oneDraft: at most one draft is at work, and each has a new generation number.
func oneDraft(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, s Start) bool { return !g.Works && s.Gen > g.Gen })
}

// aloneAtWork: no draft begins while a body runs or after the end of the session, and none is at work beside a body.
func aloneAtWork(before, after Seen, step edge) bool {
	return !(after.Body && after.Works) && machine.Every(before, step, func(g Seen, _ Start) bool { return !g.Body && !g.Down })
}

// adoptedWhenCertain: a draft is adopted at most once, after its turn was committed, by a body with the same input; and then it is adopted.
func adoptedWhenCertain(before, _ Seen, step edge) bool {
	began, begins := step.Event.(Began)
	certain := machine.Every(before, step, func(g Seen, a Adopt) bool { return g.Works && g.Committed && a.Gen == g.Gen })
	return certain && machine.Once[Adopt](step, begins && began.Matches && before.Works && before.Committed)
}

// stoppedOnce: only a draft at work is stopped.
func stoppedOnce(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, s Stop) bool { return g.Works && s.Gen == g.Gen })
}

// goneWhenWrong: an event that makes a draft wrong leaves none at work.
func goneWhenWrong(before, after Seen, step edge) bool {
	switch e := step.Event.(type) {
	case Resumed:
		return !after.Works || after.Committed
	case Committed:
		return !after.Works || after.Committed
	case Failed:
		return !after.Works || e.Gen != before.Gen
	case Dropped, Began, Shutdown:
		return !after.Works
	case Likely, Over:
	}
	return true
}

// stateAgrees: the state says what is at work.
func stateAgrees(_, after Seen, step edge) bool {
	want := Seen{Gen: after.Gen}
	switch s := step.To.(type) {
	case Idle:
		want.Gen = s.Gen
	case Busy:
		want.Gen, want.Body = s.Gen, true
	case Writing:
		want = Seen{Gen: s.Gen, Works: true, Turn: s.Turn}
	case Waiting:
		want = Seen{Gen: s.Gen, Works: true, Turn: after.Turn, Committed: true}
	case Terminated:
		want.Down = true
	}
	return after == want
}
