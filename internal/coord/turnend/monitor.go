package turnend

// The monitor of the machine: what it remembers of earlier steps, and the invariants. doc.go says what each means.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Seen is what the monitor remembers of earlier steps.
type Seen struct {
	Last  machine.Turn // the newest turn that has counted
	Loose machine.Turn // the turn whose end is tentative; 0 for none
	Next  machine.Turn // the turn that the user has opened after that end; 0 for none
	Over  bool         // Next has ended, and its text is awaited
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	switch e := step.Event.(type) {
	case Ended:
		if g.Loose == 0 {
			return Seen{Last: max(g.Last, e.Turn), Loose: e.Turn}
		}
		g.Over = g.Over || g.Next == e.Turn
	case Opened:
		if g.Loose != 0 && (g.Next == 0 || g.Over && g.Next != e.Turn) {
			return Seen{Last: max(g.Last, e.Turn), Loose: max(g.Loose, g.Next), Next: e.Turn}
		}
	case Dropped:
		if g.Next == e.Turn {
			return Seen{Last: g.Last, Loose: g.Loose}
		}
	case Worded:
		if g.Next == e.Turn && g.Over {
			return Seen{Last: g.Last, Loose: e.Turn}
		}
	case Expired:
		if g.Loose == e.Turn && g.Next == 0 {
			return Seen{Last: g.Last}
		}
	case Fixed:
		return Seen{Last: g.Last}
	}
	return g
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(edge, Effect) Seen { return g }

func effectsFit(before, _ Seen, step edge) bool {
	var want []Effect
	switch e := step.Event.(type) {
	case Ended:
		if before.Loose == 0 {
			want = []Effect{Arm(e)}
		}
	case Opened:
		if before.Over && before.Next != e.Turn {
			want = []Effect{Settle{before.Loose}}
		}
	case Dropped:
		if before.Next == e.Turn {
			want = []Effect{Arm{before.Loose}}
		}
	case Worded:
		if before.Next == e.Turn && before.Over {
			want = []Effect{Settle{before.Loose}, Arm{e.Turn}}
			if e.Joins {
				want[0] = Join{before.Loose, e.Turn}
			}
		}
	case Expired:
		if before.Loose == e.Turn && before.Next == 0 {
			want = []Effect{Settle(e)}
		}
	case Fixed:
		if before.Loose != 0 {
			want = []Effect{Settle{before.Loose}}
		}
	}
	return slices.Equal(step.Effects, want)
}

func stateAgrees(_, after Seen, step edge) bool {
	switch s := step.To.(type) {
	case Final:
		return after == Seen{Last: after.Last}
	case Tentative:
		return after == Seen{Last: after.Last, Loose: s.Turn} && s.Turn != 0
	case Continued:
		return after.Loose == s.Turn && after.Next == s.Next && s.Turn < s.Next && s.Ended == after.Over
	}
	return false
}
