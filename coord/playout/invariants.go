package playout

import "github.com/antiphon-rt/antiphon/coord/machine"

// The invariants of the machine: one function for each, which reports whether one step keeps it. doc.go says what each means.

func nothingHeardAfterCleared(before, after Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, f Play) bool { return f.Resp > g.Ended && f.Resp == g.Resp }) &&
		machine.Every(before, step, func(g Seen, f RewindAndResume) bool { return f.Resp > g.Ended && f.Resp == g.Resp }) &&
		machine.Every(before, step, func(g Seen, f EmitStarted) bool { return f.Resp > g.Ended && f.Resp == g.Resp }) &&
		machine.Every(before, step, func(g Seen, f EmitCleared) bool { return f.Resp == g.Ended && !g.Sounds }) &&
		(!after.Down || !after.Sounds && after.Resp == 0)
}

func truncateWithinSent(before, after Seen, step edge) bool {
	cuts, drops := 0, 0
	within := machine.Every(before, step, func(g Seen, f Truncate) bool {
		cuts++
		return f.End == g.At && f.Resp == g.Ended && !g.Started
	}) && machine.Every(before, step, func(g Seen, f Drop) bool {
		drops++
		return f.Resp == g.Resp
	})
	if _, down := step.Event.(Shutdown); down {
		return within && cuts == 0
	}
	return within && awaited(before)+drops == awaited(after)+cuts
}

// awaited returns 1 if the machine waits for the client's report about a cut response, or 0.
func awaited(g Seen) int {
	if g.Cut != 0 {
		return 1
	}
	return 0
}

func startedThenStoppedOrCleared(before, after Seen, step edge) bool {
	_, drained := step.Event.(Drained)
	paired := machine.Every(before, step, func(g Seen, _ EmitStarted) bool { return !g.Started && g.Sounds }) &&
		machine.Every(before, step, func(g Seen, f EmitStopped) bool { return g.Started && drained && f.Resp == g.Resp }) &&
		machine.Every(before, step, func(g Seen, _ EmitCleared) bool { return g.Started })
	if drained && before.fits(step.Event) && after.Resp != 0 {
		return false
	}
	return paired && started(step.To) == after.Started && (!after.Sounds || after.Started)
}

// started reports whether the start of the response of s was announced and its end was not.
func started(s State) bool {
	switch s := s.(type) {
	case Playing:
		return true
	case Held:
		return s.Started
	case Silent, Cut, Terminated:
	}
	return false
}

func holdEndsByVerdict(before, after Seen, step edge) bool {
	if before.Candidate == 0 {
		return true
	}
	if after.Candidate == before.Candidate {
		_, confirm := step.Event.(Confirm)
		_, reject := step.Event.(Reject)
		return !confirm && !reject || !before.fits(step.Event) || reject && before.Awaits
	}
	switch e := step.Event.(type) {
	case Confirm:
		return before.judges(e.Candidate) && after.Resp == 0
	case Reject:
		return before.judges(e.Candidate) && after.Sounds
	case Ready:
		return before.Rejected && after.Sounds
	case ReadyExpired:
		return before.Rejected && after.Sounds
	case Candidate:
		return after.Candidate == e.Candidate
	case Clear, Shutdown:
		return after.Resp == 0
	case Begin, Drained, Heard, HeardExpired, Missed:
	}
	return false
}

func silentWhileHeld(_, after Seen, step edge) bool {
	_, was := step.From.(Held)
	_, is := step.To.(Held)
	if !machine.Once[Hold](step, is && !was) {
		return false
	}
	switch s := step.To.(type) {
	case Silent:
		return after.Resp == 0 && !after.Sounds && after.Last == s.Last && after.Cut == 0
	case Playing:
		return after.Resp == s.Resp && after.Sounds && after.Candidate == 0
	case Held:
		return after.Resp == s.Resp && !after.Sounds && after.Candidate == s.Candidate && s.At == after.At && s.Tail == after.Tail
	case Cut:
		return after.Resp == 0 && !after.Sounds && after.Cut == s.Resp && s.At == after.At
	case Terminated:
	}
	return !after.Sounds
}

func noWordLost(before, after Seen, step edge) bool {
	goesOn := machine.Every(before, step, func(g Seen, _ Play) bool { return !g.known() }) &&
		machine.Every(before, step, func(g Seen, f RewindAndResume) bool { return g.known() && f.From == g.At })
	if !before.fits(step.Event) {
		return goesOn
	}
	switch e := step.Event.(type) {
	case Begin:
		return goesOn && after.Sounds != (e.Candidate != 0)
	case Reject:
		return goesOn && (after.Sounds || after.Rejected)
	case Ready:
		return goesOn && after.Sounds == before.Rejected
	case ReadyExpired:
		return goesOn && after.Sounds == before.Rejected
	case Missed:
		held := before.Resp != 0 && !before.Sounds || before.Resp == 0 && e.Candidate != 0
		return goesOn && after.Sounds != held && machine.Once[RewindAndResume](step, false) == held
	case Drained, Candidate, Confirm, Clear, Heard, HeardExpired, Shutdown:
	}
	return goesOn
}

func readyIsAwaited(before, after Seen, step edge) bool {
	right := machine.Every(before, step, func(g Seen, f AwaitReady) bool { return f.Candidate == g.Client && g.Awaits && !g.Sounds }) &&
		machine.Every(before, step, func(g Seen, _ Play) bool { return !g.Awaits }) &&
		machine.Every(before, step, func(g Seen, _ RewindAndResume) bool { return !g.Awaits })
	e, candidate := step.Event.(Candidate)
	if !right || !machine.Once[AwaitReady](step, candidate && e.Reports && before.fits(e)) {
		return false
	}
	if s, held := step.To.(Held); held {
		return s.Client == after.Client && s.Awaits == after.Awaits && s.Rejected == after.Rejected
	}
	return !after.Awaits && !after.Rejected
}

func heardIsAwaited(before, after Seen, step edge) bool {
	wanted := false
	if before.fits(step.Event) && before.known() {
		switch e := step.Event.(type) {
		case Confirm:
			wanted = e.Reports
		case Clear:
			wanted = e.Reports && before.Started
		case Begin, Drained, Candidate, Ready, ReadyExpired, Reject, Heard, HeardExpired, Missed, Shutdown:
		}
	}
	right := machine.Every(before, step, func(g Seen, f AwaitHeard) bool { return f.Resp == g.Ended && g.Resp == 0 && !g.Started }) &&
		machine.Every(before, step, func(g Seen, _ Play) bool { return g.Cut == 0 }) &&
		machine.Every(before, step, func(g Seen, _ Hold) bool { return g.Cut == 0 })
	_, is := step.To.(Cut)
	return right && machine.Once[AwaitHeard](step, wanted) && is == (after.Cut != 0)
}

func verdictOnce(before, after Seen, step edge) bool {
	told := machine.Every(before, step, func(g Seen, r EmitRejected) bool { return g.Client != 0 && r.Candidate == g.Client && g.Sounds })
	return told && (!after.Sounds || after.Client == 0)
}

func genGrows(before, after Seen, step edge) bool {
	grows := machine.Every(before, step, func(g Seen, f Play) bool { return f.Gen > g.Gen }) &&
		machine.Every(before, step, func(g Seen, f RewindAndResume) bool { return f.Gen > g.Gen })
	gen := after.Gen
	switch s := step.To.(type) {
	case Silent:
		gen = s.Gen
	case Playing:
		gen = s.Gen
	case Held:
		gen = s.Gen
	case Cut:
		gen = s.Gen
	case Terminated:
	}
	return grows && gen == after.Gen
}

func staleIsHarmless(before, _ Seen, step edge) bool {
	return before.fits(step.Event) || step.From == step.To && len(step.Effects) == 0
}
