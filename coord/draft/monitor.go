package draft

// The monitor of the machine: what it remembers of earlier steps, and the invariants. doc.go says what each means.

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

func oneDraft(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, s Start) bool { return !g.Works && s.Gen > g.Gen })
}

func aloneAtWork(before, after Seen, step edge) bool {
	return !(after.Body && after.Works) && machine.Every(before, step, func(g Seen, _ Start) bool { return !g.Body && !g.Down })
}

func adoptedWhenCertain(before, _ Seen, step edge) bool {
	began, begins := step.Event.(Began)
	certain := machine.Every(before, step, func(g Seen, a Adopt) bool { return g.Works && g.Committed && a.Gen == g.Gen })
	return certain && machine.Once[Adopt](step, begins && began.Matches && before.Works && before.Committed)
}

func stoppedOnce(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, s Stop) bool { return g.Works && s.Gen == g.Gen })
}

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
