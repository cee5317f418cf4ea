package voicegate

// The monitor of the machine: what it remembers of earlier steps, and the invariants. doc.go says what each means.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Seen is what the monitor remembers of earlier steps.
type Seen struct {
	Asked    bool // the back end was asked
	First    bool // the session asks until one turn is recognised
	Admitted bool
	Refused  bool
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	if e, is := step.Event.(Ask); is && !g.Asked && !g.Admitted && !g.Refused {
		g.First = e.First
	}
	return g
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(_ edge, f Effect) Seen {
	switch f.(type) {
	case Verify:
		g.Asked = true
	case Admit:
		g.Admitted = true
	case Refuse:
		g.Refused = true
	case Trust:
	}
	return g
}

func failsClosed(before, after Seen, step edge) bool {
	if before.Admitted || !after.Admitted {
		return true
	}
	switch e := step.Event.(type) {
	case Matched:
		return before.Asked && !before.Refused
	case Ask:
		return e.First && e.Trusted && !before.Asked && !before.Refused
	case Mismatched, Failed, Expired, Shutdown:
	}
	return false
}

func oneVerdict(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ Admit) bool { return !g.Admitted && !g.Refused }) &&
		machine.Every(before, step, func(g Seen, _ Refuse) bool { return !g.Admitted && !g.Refused }) &&
		machine.Every(before, step, func(g Seen, _ Verify) bool { return !g.Asked && !g.Admitted && !g.Refused })
}

func trustIsEarned(before, _ Seen, step edge) bool {
	_, matched := step.Event.(Matched)
	return machine.Once[Trust](step, matched && before.Asked && before.First && !before.Admitted && !before.Refused)
}

func stateAgrees(_, after Seen, step edge) bool {
	switch s := step.To.(type) {
	case Waiting:
		return after == Seen{}
	case Resolving:
		return after == Seen{Asked: true, First: s.First}
	case Admitted:
		return after.Admitted && !after.Refused
	case Refused:
		return after.Refused && !after.Admitted
	}
	return false
}
