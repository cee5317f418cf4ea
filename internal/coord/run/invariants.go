package run

// The invariants of the machine: one function for each, which reports whether one step keeps it. doc.go says what each means.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// has reports whether f is among the effects of step.
func has(step edge, f Effect) bool { return slices.Contains(step.Effects, f) }

func oneTerminal(before, after Seen, step edge) bool {
	_, ended := Terminal(step.To)
	still := !before.Ended || step.From == step.To && !slices.ContainsFunc(step.Effects, func(f Effect) bool { _, answers := f.(AnswerReply); return !answers })
	return still && ended == after.Ended
}

func resultComesWithTerminal(before, _ Seen, step edge) bool {
	last, ended := Terminal(step.To)
	if before.Ended || !ended {
		return machine.Once[Conclude](step, false)
	}
	result := resultOf(step.Event)
	return last.Result == result && machine.Once[Conclude](step, true) && has(step, Conclude{step.To.Name(), result})
}

func waitsOnlyForAQuestion(_, after Seen, step edge) bool {
	w, waits := step.To.(WaitingUser)
	if !waits {
		return !after.Waits
	}
	return after.Waits && w.Pending != 0 && w.Pending == after.Asked && w.Session == after.Session && w.Policy == after.Policy
}

func oneResumeWins(before, after Seen, step edge) bool {
	resumes := 0
	for _, f := range step.Effects {
		var id Interaction
		switch f := f.(type) {
		case ReplyAccepted:
			id = f.InteractionID
		case AutoDecided:
			id = f.InteractionID
		case StateChanged, Conclude, StopTurn, DecideAlone, ArmTimeout, AnswerReply:
			continue
		}
		resumes++
		if !before.Waits || id != before.Asked {
			return false
		}
	}
	return resumes == 0 || resumes == 1 && !after.Waits
}

func everyReplyIsAnswered(before, _ Seen, step edge) bool {
	e, reply := step.Event.(Reply)
	switch {
	case !reply:
		return machine.Once[AnswerReply](step, false) && machine.Once[ReplyAccepted](step, false)
	case before.Waits && e.Interaction == before.Asked:
		return machine.Once[ReplyAccepted](step, true) && machine.Once[AnswerReply](step, false)
	}
	want := AnswerReply{Interaction: e.Interaction}
	if e.Interaction == before.Asked {
		want.Resolved = before.Resolved
	}
	return step.From == step.To && len(step.Effects) == 1 && has(step, want)
}

func nobodyDecidesForTheUser(before, _ Seen, step edge) bool {
	return machine.Once[AutoDecided](step, false) || before.Policy == AutoDecide
}

func autoNeverWaits(before, _ Seen, step edge) bool {
	e, needs := step.Event.(TurnNeedsInput)
	_, runs := step.From.(Running)
	w, waits := step.To.(WaitingUser)
	want := needs && runs && e.Policy == Auto && e.Attempt == before.Attempt
	return !(waits && w.Policy == Auto) && machine.Once[DecideAlone](step, want) && (!want || has(step, DecideAlone{before.Attempt}))
}

func attemptsOnlyGrow(before, after Seen, step edge) bool {
	attempt := attemptOf(step.To)
	claims := false
	switch step.Event.(type) {
	case TurnStarted, Resume:
		claims = true
	case TurnNeedsInput, TurnSucceeded, TurnFailed, Reply, Timeout, Cancel, Preserve, Reconcile:
	}
	return attempt == after.Attempt && (attempt == before.Attempt || claims && attempt == before.Attempt+1)
}

func seqIsContiguous(before, after Seen, step edge) bool {
	next := before.Seq
	for _, f := range step.Effects {
		var seq Seq
		switch f := f.(type) {
		case StateChanged:
			seq = f.Seq
		case ReplyAccepted:
			seq = f.Seq
		case AutoDecided:
			seq = f.Seq
		case Conclude, StopTurn, DecideAlone, ArmTimeout, AnswerReply:
			continue
		}
		next++
		if seq != next {
			return false
		}
	}
	return seqOf(step.To) == after.Seq
}

func everyChangeIsTold(_, _ Seen, step edge) bool {
	if !changes(step) {
		return machine.Once[StateChanged](step, false)
	}
	n := len(step.Effects)
	if n == 0 || !machine.Once[StateChanged](step, true) {
		return false
	}
	f, last := step.Effects[n-1].(StateChanged)
	return last && f.From == step.From.Name() && f.To == step.To.Name() && f.Trigger == step.Event.Name() && f.UpdatedAt == at(step.Event)
}

func causeComesFirst(before, _ Seen, step edge) bool {
	for i, f := range step.Effects {
		f, told := f.(StateChanged)
		if !told {
			continue
		}
		want := Effect(nil)
		switch f.Trigger {
		case Reply{}.Name():
			want = ReplyAccepted{f.Seq - 1, before.Asked, UserReply, at(step.Event)}
		case Timeout{}.Name():
			want = AutoDecided{f.Seq - 1, before.Asked, AutoDecideTimeout, before.Policy}
		default:
			continue
		}
		if i == 0 || step.Effects[i-1] != want {
			return false
		}
	}
	return true
}

func staleIsHarmless(before, _ Seen, step edge) bool {
	_, runs := step.From.(Running)
	stale := false
	switch e := step.Event.(type) {
	case TurnNeedsInput:
		stale = !runs || e.Attempt != before.Attempt
	case TurnSucceeded:
		stale = !runs || e.Attempt != before.Attempt
	case TurnFailed:
		stale = !runs || e.Attempt != before.Attempt
	case Timeout:
		stale = !before.Waits || e.Interaction != before.Asked
	case Preserve:
		stale = !before.Waits || e.Interaction != before.Asked || e.Session == 0 || e.Session != before.Session
	case TurnStarted, Reply, Cancel, Reconcile, Resume:
	}
	return !stale || step.From == step.To && len(step.Effects) == 0
}

func abandonedTurnIsStopped(before, after Seen, step edge) bool {
	_, ran := step.From.(Running)
	_, runs := step.To.(Running)
	ownReport := false
	switch step.Event.(type) {
	case TurnNeedsInput, TurnSucceeded, TurnFailed:
		ownReport = true
	case TurnStarted, Reply, Timeout, Cancel, Preserve, Reconcile, Resume:
	}
	want := ran && !ownReport && (!runs || after.Attempt != before.Attempt)
	return machine.Once[StopTurn](step, want) && (!want || has(step, StopTurn{before.Attempt}))
}

func timeoutIsArmed(before, after Seen, step edge) bool {
	kept, restart := step.Event.(Preserve)
	begins := !before.Waits && after.Waits
	keeps := restart && before.Waits && kept.Interaction == before.Asked && kept.Session == before.Session && kept.Session != 0
	want := (begins || keeps) && after.Policy == AutoDecide
	return machine.Once[ArmTimeout](step, want) && (!want || has(step, ArmTimeout{after.Asked}))
}
