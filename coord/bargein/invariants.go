package bargein

// The invariants of the machine: one function for each, which reports whether one step keeps it. doc.go says what each means.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
)

func levelIsState(_, after Seen, step edge) bool {
	switch step.To.(type) {
	case Ducked:
		return after.Level == Lowered
	case Silenced:
		return after.Level == NoLevel
	case Silent, Playing, Restored, Unanswered, Closed:
	}
	return after.Level == FullLevel
}

func neverStuckDucked(_, after Seen, _ edge) bool {
	return after.Level == FullLevel || after.Waits != 0 && after.Armed == after.Waits
}

func candidateOnce(before, _ Seen, step edge) bool {
	e, onset := step.Event.(Onset)
	onset = onset && before.fits(e)
	right := machine.Every(before, step, func(g Seen, c SendCandidate) bool {
		return onset && g.Level == Lowered && c == SendCandidate{e.Candidate, g.Resp, e.At} && c.Candidate > g.Newest
	})
	return right && machine.Once[SendCandidate](step, onset)
}

func ackIsAwaited(before, _ Seen, step edge) bool {
	e, acked := step.Event.(Acked)
	acked = acked && before.fits(e)
	right := machine.Every(before, step, func(_ Seen, f AwaitPosition) bool { return f == AwaitPosition(e) })
	return right && machine.Once[AwaitPosition](step, acked)
}

func noWordLost(before, after Seen, step edge) bool {
	_, passed := step.Event.(Passed)
	_, rejected := step.Event.(Rejected)
	asks := (passed || rejected && before.Missed) && before.fits(step.Event)
	right := machine.Every(before, step, func(g Seen, r SendReady) bool {
		return asks && g.Level == FullLevel && r == SendReady{before.Owes, before.Full}
	})
	if !right || !machine.Once[SendReady](step, asks) {
		return false
	}
	switch s := step.To.(type) {
	case Ducked:
		return s.Full == after.Full && s.Candidate == after.Owes && s.Missed == after.Missed
	case Silenced:
		return s.Full == after.Full && s.Candidate == after.Owes && s.Missed && after.Missed
	case Unanswered:
		return s.Full == after.Full && s.Candidate == after.Owes && s.Missed == after.Missed
	case Silent, Playing, Restored, Closed:
	}
	return after.Owes == 0
}

func nothingHeardAfterConfirm(before, after Seen, step edge) bool {
	e, confirmed := step.Event.(Confirmed)
	confirmed = confirmed && before.fits(e)
	right := machine.Every(before, step, func(_ Seen, f Mute) bool { return confirmed && f.Resp == e.Resp }) &&
		machine.Every(before, step, func(g Seen, _ Restore) bool { return !confirmed || g.Cut == e.Resp })
	return right && machine.Once[Mute](step, confirmed) && heard(step.To) == after.Resp
}

func heardOnce(before, _ Seen, step edge) bool {
	e, confirmed := step.Event.(Confirmed)
	confirmed = confirmed && before.fits(e)
	right := machine.Every(before, step, func(g Seen, h SendHeard) bool { return h == SendHeard(e) && g.Cut == e.Resp })
	return right && machine.Once[SendHeard](step, confirmed)
}

func verdictOnce(_, after Seen, step edge) bool { return Pending(step.To) == after.Waits }

func staleIsHarmless(before, _ Seen, step edge) bool {
	return before.fits(step.Event) || step.From == step.To && len(step.Effects) == 0
}
