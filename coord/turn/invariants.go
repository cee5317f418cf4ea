package turn

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// The invariants of the machine: one function for each, which reports whether one step keeps it. doc.go says what each means.

func coupled(_, after Seen, step edge) bool {
	var candidate, open ID
	switch s := step.To.(type) {
	case Candidate:
		candidate = s.Turn
	case Speaking:
		open = s.Turn
	case Confirming:
		open = s.Turn
	case Idle:
	}
	return after.Candidate == candidate && after.Open == open && after.Speech == open
}

func atMostOneTurnOpen(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ OpenCandidate) bool { return g.Open == 0 && g.Candidate == 0 }) &&
		machine.Every(before, step, func(g Seen, f OpenTurn) bool { return g.Open == 0 && (g.Candidate == 0 || g.Candidate == f.Turn) })
}

func everyTurnEndsOnce(before, _ Seen, step edge) bool {
	once := machine.Every(before, step, func(g Seen, f CommitTurn) bool { return f.Turn == g.Open || g.Open == 0 && f.Turn > g.Newest }) &&
		machine.Every(before, step, func(g Seen, f DiscardTurn) bool { return f.Turn == g.Open })
	if _, manual := step.Event.(Commit); manual {
		n := len(step.Effects)
		if n == 0 {
			return false
		}
		_, committed := step.Effects[n-1].(CommitTurn)
		return once && committed
	}
	return once
}

func bargeInOnlyFromSpeech(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, f OpenCandidate) bool { return f.Turn == g.Voice }) &&
		machine.Every(before, step, func(g Seen, f BargeIn) bool { return f.Turn == g.Due && f.Turn == g.Open && f.Turn == g.Speech })
}

func bargeInBeforeCommit(before, after Seen, step edge) bool {
	first := machine.Every(before, step, func(g Seen, _ CommitTurn) bool { return g.Due == 0 })
	return first && after.Due == 0
}

func candidateEndsByVerdict(before, after Seen, step edge) bool {
	once := machine.Every(before, step, func(g Seen, r RejectCandidate) bool { return r.Turn == g.Candidate })
	if before.Candidate == 0 || after.Candidate == before.Candidate {
		return once
	}
	switch e := step.Event.(type) {
	case Sustained, Misfire:
		return once && turnIn(e) == before.Candidate
	case Commit, Clear, Shutdown:
		return once
	case Onset, ClientCandidate, Silence, EndOfUtterance, VoiceResumed, FallbackExpired, GatePassed, GateRefused, NoSpeech,
		IdleTimeout:
	}
	return false
}

func speechStopsOnce(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, f EmitSpeechStarted) bool { return g.Speech == 0 && f.Turn == g.Open }) &&
		machine.Every(before, step, func(g Seen, f EmitSpeechStopped) bool { return g.Speech == f.Turn && f.Turn == g.Open }) &&
		machine.Every(before, step, func(g Seen, _ CommitTurn) bool { return g.Speech == 0 }) &&
		machine.Every(before, step, func(g Seen, _ DiscardTurn) bool { return g.Speech == 0 })
}

func staleIsHarmless(before, _ Seen, step edge) bool {
	if fits(before, step) {
		return true
	}
	return step.From == step.To && len(step.Effects) == 0
}

// fits reports whether the machine must act on the event of step. It must ignore all other events.
func fits(g Seen, step edge) bool {
	switch e := step.Event.(type) {
	case Sustained, Misfire:
		return turnIn(e) == g.Candidate
	case Silence, EndOfUtterance, VoiceResumed:
		return turnIn(e) == g.Open
	case FallbackExpired:
		return e.Turn == g.Open && g.Armed != 0 && e.Gen == g.Armed
	case GatePassed:
		return g.Asked && Confirming(e) == step.From
	case GateRefused:
		return g.Asked && Confirming{e.Turn, e.Gen} == step.From
	case NoSpeech:
		return g.Asked && Confirming(e) == step.From
	case Onset, ClientCandidate, Commit, Clear, IdleTimeout, Shutdown:
	}
	return true
}

func gateIsAsked(before, after Seen, step edge) bool {
	if _, confirming := step.To.(Confirming); confirming != after.Asked {
		return false
	}
	switch e := step.Event.(type) {
	case EndOfUtterance:
		return !e.Gate || after.Open != 0 || before.Open == 0
	case Silence:
		return !before.Gate || e.FallbackMS == 0 || after.Open != 0 || before.Open == 0
	case Onset, ClientCandidate, Sustained, Misfire, VoiceResumed, FallbackExpired, GatePassed, GateRefused, Commit,
		Clear, NoSpeech, IdleTimeout, Shutdown:
	}
	return true
}

func eouNotLost(before, after Seen, step edge) bool {
	if e, silent := step.Event.(Silence); silent && before.EOU && e.Turn == before.Open {
		return after.Open == 0 || after.Asked
	}
	s, speaking := step.To.(Speaking)
	return !speaking || s.EOU == after.EOU && s.Gate == after.Gate
}

func everyPauseEnds(before, after Seen, step edge) bool {
	wanted := func() bool {
		arm := Effect(ArmFallback{after.Open, after.Armed, pause(step.Event)})
		s, speaking := step.To.(Speaking)
		return speaking && machine.Once[ArmFallback](step, true) && slices.Contains(step.Effects, arm) && after.Armed == s.Gen && after.Armed > before.Armed
	}
	if before.Open == 0 || !fits(before, step) {
		return true
	}
	_, confirming := step.From.(Confirming)
	switch step.Event.(type) {
	case Silence:
		return confirming || after.Open == 0 || after.Asked || wanted()
	case FallbackExpired:
		return after.Open == 0
	case GatePassed:
		return after.Open == 0
	case NoSpeech:
		return after.Open == 0
	case GateRefused:
		return wanted()
	case Onset, ClientCandidate, Sustained, Misfire, EndOfUtterance, VoiceResumed, Commit, Clear, IdleTimeout,
		Shutdown:
	}
	return true
}

// pause returns how long e lets the machine wait, in milliseconds.
func pause(e Event) uint32 {
	switch e := e.(type) {
	case Silence:
		return e.FallbackMS
	case GateRefused:
		return e.FallbackMS
	case Onset, ClientCandidate, Sustained, Misfire, EndOfUtterance, VoiceResumed, FallbackExpired, GatePassed,
		Commit, Clear, NoSpeech, IdleTimeout, Shutdown:
	}
	return 0
}

func timeoutBeforeCommit(before, _ Seen, step edge) bool {
	e, timeout := step.Event.(IdleTimeout)
	if !timeout || before.Open != 0 || before.Candidate != 0 {
		return true
	}
	if len(step.Effects) != 2 || step.Effects[0] != EmitTimeout(e) {
		return false
	}
	_, commits := step.Effects[1].(CommitTurn)
	return commits
}

func commitSaysWhose(before, _ Seen, step edge) bool {
	_, byClient := step.Event.(Commit)
	_, wordless := step.Event.(IdleTimeout)
	return machine.Every(before, step, func(_ Seen, c CommitTurn) bool { return c.ByClient == byClient && c.Wordless == wordless })
}
