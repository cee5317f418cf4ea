package playout

// Nothing of a reply that was cut off or has ended is heard again, and what is
// announced as cut off is silent by then.
func nothingHeardAfterCleared(before, after Seen, step edge) bool {
	return each(before, step, func(g Seen, f Effect) bool {
		switch f := f.(type) {
		case Play:
			return f.Resp > g.Ended && f.Resp == g.Resp
		case RewindAndResume:
			return f.Resp > g.Ended && f.Resp == g.Resp
		case EmitStarted:
			return f.Resp > g.Ended && f.Resp == g.Resp
		case EmitCleared:
			return f.Resp == g.Ended && !g.Sounds
		case Hold, Drop, EmitStopped, Truncate:
		}
		return true
	}) && (!after.Down || !after.Sounds && after.Resp == 0)
}

// The item is cut where the reply was held or, if it sounded until then, where the
// clear found it; both were sent. It is cut once for each dropped reply, after that
// was announced as cleared.
func truncateWithinSent(before, _ Seen, step edge) bool {
	cuts, drops := 0, 0
	within := each(before, step, func(g Seen, f Effect) bool {
		switch f := f.(type) {
		case Truncate:
			cuts++
			return f.End == g.At && f.Resp == g.Ended && !g.Started
		case Drop:
			drops++
			return f.Resp == g.Resp
		case Play, Hold, RewindAndResume, EmitStarted, EmitStopped, EmitCleared:
		}
		return true
	})
	if _, down := step.Event.(Shutdown); down {
		return within && cuts == 0
	}
	return within && cuts == drops
}

// A start is announced once and then one end: stopped when the reply was heard to
// its end, cleared when it was cut off.
func startedThenStoppedOrCleared(before, after Seen, step edge) bool {
	paired := each(before, step, func(g Seen, f Effect) bool {
		switch f := f.(type) {
		case EmitStarted:
			return !g.Started && g.Sounds
		case EmitStopped:
			_, drained := step.Event.(Drained)
			return g.Started && drained && f.Resp == g.Resp
		case EmitCleared:
			return g.Started
		case Play, Hold, RewindAndResume, Drop, Truncate:
		}
		return true
	})
	if _, drained := step.Event.(Drained); drained && fits(before, step) && after.Resp != 0 {
		return false
	}
	return paired && started(step.To) == after.Started
}

func started(s State) bool {
	switch s := s.(type) {
	case Playing:
		return true
	case Held:
		return s.Started
	case Silent, Terminated:
	}
	return false
}

// A hold ends by its own candidate's verdict, or with the reply.
func holdEndsByVerdict(before, after Seen, step edge) bool {
	if before.Candidate == 0 {
		return true
	}
	if after.Candidate == before.Candidate {
		_, confirm := step.Event.(Confirm)
		_, reject := step.Event.(Reject)
		return !confirm && !reject || !fits(before, step)
	}
	switch e := step.Event.(type) {
	case Confirm:
		return e.Candidate == before.Candidate && after.Resp == 0
	case Reject:
		return e.Candidate == before.Candidate && after.Sounds
	case Clear, Shutdown:
		return after.Resp == 0
	case Begin, Drained, Candidate:
	}
	return false
}

// A reply sounds exactly while the machine says that it plays; a reply that begins
// during an open turn is held from its beginning, and a hold is told to the driver once.
func silentWhileHeld(_, after Seen, step edge) bool {
	holds := 0
	for _, f := range step.Effects {
		if _, hold := f.(Hold); hold {
			holds++
		}
	}
	_, was := step.From.(Held)
	_, is := step.To.(Held)
	if (holds == 1) != (is && !was) || holds > 1 {
		return false
	}
	switch s := step.To.(type) {
	case Silent:
		return after.Resp == 0 && !after.Sounds
	case Playing:
		return after.Resp == s.Resp && after.Sounds && after.Candidate == 0
	case Held:
		return after.Resp == s.Resp && !after.Sounds && after.Candidate == s.Candidate && s.At == after.At
	case Terminated:
	}
	return !after.Sounds
}

// A rejected candidate costs nothing: the reply goes on from where it was held, or
// begins if nothing of it was heard. And a reply that may begin does.
func noWordLost(before, after Seen, step edge) bool {
	goesOn := each(before, step, func(g Seen, f Effect) bool {
		switch f := f.(type) {
		case Play:
			return !g.Started
		case RewindAndResume:
			return g.Started && f.From == g.At
		case Hold, Drop, EmitStarted, EmitStopped, EmitCleared, Truncate:
		}
		return true
	})
	switch e := step.Event.(type) {
	case Begin:
		return goesOn && (before.Resp != 0 || before.Down || after.Sounds != (e.Candidate != 0))
	case Reject:
		return goesOn && (before.Candidate == 0 || e.Candidate != before.Candidate || after.Sounds)
	case Drained, Candidate, Confirm, Clear, Shutdown:
	}
	return goesOn
}

// Every segment has a new generation, and the state knows the newest.
func genGrows(before, after Seen, step edge) bool {
	grows := each(before, step, func(g Seen, f Effect) bool {
		switch f := f.(type) {
		case Play:
			return f.Gen > g.Gen
		case RewindAndResume:
			return f.Gen > g.Gen
		case Hold, Drop, EmitStarted, EmitStopped, EmitCleared, Truncate:
		}
		return true
	})
	gen := after.Gen
	switch s := step.To.(type) {
	case Silent:
		gen = s.Gen
	case Playing:
		gen = s.Gen
	case Held:
		gen = s.Gen
	case Terminated:
	}
	return grows && gen == after.Gen
}

// The report of an older segment, another candidate's verdict, and whatever comes
// after the shutdown change nothing.
func staleIsHarmless(before, _ Seen, step edge) bool {
	return fits(before, step) || step.From == step.To && len(step.Effects) == 0
}

func fits(g Seen, step edge) bool {
	if g.Down {
		return false
	}
	switch e := step.Event.(type) {
	case Begin:
		return g.Resp == 0
	case Drained:
		return g.Sounds && e.Resp == g.Resp && e.Gen == g.Gen
	case Candidate:
		return g.Sounds
	case Confirm:
		return e.Candidate == g.Candidate
	case Reject:
		return e.Candidate == g.Candidate
	case Clear:
		return g.Resp != 0
	case Shutdown:
	}
	return true
}
