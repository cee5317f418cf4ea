package remotecall

// The monitor of the machine: what it remembers of earlier steps, and the invariants. doc.go says what each means.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Seen is what the monitor remembers of earlier steps.
type Seen struct {
	Asked, Approved bool // the user had to be asked, and has approved
	Called          bool
	Closed          bool
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	switch e := step.Event.(type) {
	case Answer:
		g.Approved = g.Approved || e.Approve && g.Asked && !g.Called && !g.Closed
	case Cut:
		if _, writes := step.From.(Writing); writes {
			g.Closed = true
		}
	case Complete, Ended, Lost:
	}
	return g
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(_ edge, f Effect) Seen {
	switch f.(type) {
	case Request:
		g.Asked = true
	case Call:
		g.Called = true
	case Deliver, Deny, Lose:
		g.Closed = true
	}
	return g
}

func calledOnce(before, after Seen, step edge) bool {
	once := machine.Every(before, step, func(g Seen, _ Call) bool { return !g.Called })
	switch step.To.(type) {
	case Running:
		return once && after.Called
	case Writing, Asking:
		return once && !after.Called
	case Over:
	}
	return once
}

func onlyApproved(before, after Seen, step edge) bool {
	e, completes := step.Event.(Complete)
	return (!after.Called || !after.Asked || after.Approved) &&
		machine.Every(before, step, func(g Seen, _ Request) bool { return !g.Asked && !g.Called }) &&
		machine.Every(before, step, func(g Seen, _ Call) bool { return (!g.Asked || g.Approved) && !(completes && e.Ask) })
}

func closedOnce(before, after Seen, step edge) bool {
	_, over := step.To.(Over)
	_, cut := step.Event.(Cut)
	return over == after.Closed && machine.Every(before, step, func(g Seen, _ Effect) bool { return !g.Closed && !cut })
}

func trueOutcome(before, _ Seen, step edge) bool {
	_, ended := step.Event.(Ended)
	_, lost := step.Event.(Lost)
	return machine.Every(before, step, func(g Seen, _ Deliver) bool { return ended && g.Called }) &&
		machine.Every(before, step, func(g Seen, _ Deny) bool { return step.Event == Event(Answer{}) && !g.Called }) &&
		machine.Every(before, step, func(_ Seen, _ Lose) bool { return lost })
}
