package bargein

// The invariants of the machine: one function for each, which reports whether one step keeps it.

import "github.com/antiphon-rt/antiphon/coord/id"

// The level is what the state says.
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

// While the level is down a deadline runs that brings it back.
func neverStuckDucked(_, after Seen, _ edge) bool {
	return after.Level == FullLevel || after.Waits != 0 && after.Armed == after.Waits
}

// An onset over a reply is one candidate, which the server is told of after the
// level is down, and of which it has not heard before.
func candidateOnce(before, _ Seen, step edge) bool {
	e, onset := step.Event.(Onset)
	onset = onset && before.fits(e)
	sent := 0
	right := each(before, step, func(g Seen, f Effect) bool {
		c, is := f.(SendCandidate)
		if !is {
			return true
		}
		sent++
		return onset && g.Level == Lowered && c == SendCandidate{e.Candidate, g.Resp, e.At} && c.Candidate > g.Newest
	})
	return right && (sent == 1) == onset && sent <= 1
}

// The mark that the server names is waited for, once.
func ackIsAwaited(before, _ Seen, step edge) bool {
	e, acked := step.Event.(Acked)
	acked = acked && before.fits(e)
	awaited := 0
	for _, f := range step.Effects {
		if f, is := f.(AwaitMark); is {
			if f != AwaitMark(e) {
				return false
			}
			awaited++
		}
	}
	return (awaited == 1) == acked && awaited <= 1
}

// When the server's silence is reached the server is told where the reply stopped
// being heard at full level: once, and after the level is up again.
func noWordLost(before, after Seen, step edge) bool {
	e, passed := step.Event.(Passed)
	passed = passed && before.fits(e)
	sent := 0
	right := each(before, step, func(g Seen, f Effect) bool {
		r, is := f.(SendReady)
		if !is {
			return true
		}
		sent++
		return passed && g.Level == FullLevel && r == SendReady{g.Owes, g.Full}
	})
	if !right || (sent == 1) != passed || sent > 1 {
		return false
	}
	switch s := step.To.(type) {
	case Ducked:
		return s.Full == after.Full && s.Candidate == after.Owes
	case Silenced:
		return s.Full == after.Full && s.Candidate == after.Owes
	case Unanswered:
		return s.Full == after.Full && s.Candidate == after.Owes
	case Silent, Playing, Restored, Closed:
	}
	return after.Owes == 0
}

// A reply is muted when the server has interrupted it, and before the level goes up again.
func nothingHeardAfterConfirm(before, after Seen, step edge) bool {
	e, confirmed := step.Event.(Confirmed)
	confirmed = confirmed && before.fits(e)
	mutes := 0
	right := each(before, step, func(g Seen, f Effect) bool {
		switch f := f.(type) {
		case Mute:
			mutes++
			return confirmed && f.Resp == e.Resp
		case Restore:
			return !confirmed || g.Cut == e.Resp
		case Duck, Silence, SendCandidate, ArmDeadline, AwaitMark, SendReady, SendHeard:
		}
		return true
	})
	return right && (mutes == 1) == confirmed && mutes <= 1 && heard(step.To) == after.Resp
}

// heard is the reply that a state says is heard, at whatever level, or 0.
func heard(s State) id.Response {
	switch s := s.(type) {
	case Playing:
		return s.Resp
	case Ducked:
		return s.Resp
	case Silenced:
		return s.Resp
	case Restored:
		return s.Resp
	case Unanswered:
		return s.Resp
	case Silent, Closed:
	}
	return 0
}

// The server hears what was heard of every reply that it interrupted, once, when that is all.
func heardOnce(before, _ Seen, step edge) bool {
	e, confirmed := step.Event.(Confirmed)
	confirmed = confirmed && before.fits(e)
	sent := 0
	right := each(before, step, func(g Seen, f Effect) bool {
		h, is := f.(SendHeard)
		if !is {
			return true
		}
		sent++
		return h == SendHeard(e) && g.Cut == e.Resp
	})
	return right && (sent == 1) == confirmed && sent <= 1
}

// A candidate waits until its own verdict, its deadline, its reply's interruption or the end.
func verdictOnce(_, after Seen, step edge) bool { return Pending(step.To) == after.Waits }

// What another candidate or an older reply is told, and whatever comes after the end, changes nothing.
func staleIsHarmless(before, _ Seen, step edge) bool {
	return before.fits(step.Event) || step.From == step.To && len(step.Effects) == 0
}
