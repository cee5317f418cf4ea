package transcription

// The invariants of the machine: one function for each, which reports whether one step keeps it. doc.go says what each means.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
)

func oneStreamATurn(before, after Seen, step edge) bool {
	one := machine.Every(before, step, func(g Seen, _ OpenStream) bool { return g.Stream == 0 && g.Due == 0 }) &&
		machine.Every(before, step, func(g Seen, f CloseInput) bool { return f.Turn == g.Stream && g.Due == 0 }) &&
		machine.Every(before, step, func(g Seen, f DecodeWhole) bool { return g.Stream == 0 && (g.Due == 0 || g.Due == f.Turn) })
	return one && TurnOf(step.To) == max(after.Stream, after.Due)
}

func eouNotLost(_, after Seen, step edge) bool {
	s, streaming := step.To.(Streaming)
	return !streaming || after.Ready && s.EOU == after.EOU
}

func unavailableIsSticky(before, after Seen, step edge) bool {
	once := machine.Every(before, step, func(g Seen, _ Effect) bool { return !g.Degraded }) &&
		machine.Every(before, step, func(g Seen, _ Degrade) bool { return g.Stream == 0 })
	_, was := step.From.(Unavailable)
	_, is := step.To.(Unavailable)
	return once && is == after.Degraded && (!was || is)
}

func everyFinishIsAnswered(before, after Seen, step edge) bool {
	once := machine.Every(before, step, func(g Seen, f DeliverText) bool { return f.Turn == g.Due && step.Event == Done{f.Turn, f.Empty} }) &&
		machine.Every(before, step, func(g Seen, f DeliverFailure) bool { return f.Turn == g.Due })
	s, finalizing := step.To.(Finalizing)
	switch e := step.Event.(type) {
	case Finish:
		if e.Turn == before.Stream && before.Due == 0 && after.Due != e.Turn {
			return false
		}
	case Decode:
		if (step.From == Closed{}) && after.Due != e.Turn {
			return false
		}
	case Done:
		if e.Turn == before.Due && after.Due == e.Turn {
			return false
		}
	case Open, Ready, Refuse, EOU, Resumed, Failed, Abandon, Shutdown:
	}
	return once && finalizing == (after.Due != 0) && (!finalizing || s == Finalizing{after.Due, after.Whole})
}

func wordsAreTriedTwice(before, _ Seen, step edge) bool {
	unwanted := false
	switch step.Event.(type) {
	case Abandon, Shutdown:
		unwanted = true
	case Open, Ready, Refuse, EOU, Resumed, Finish, Decode, Done, Failed:
	}
	return machine.Every(before, step, func(g Seen, _ DecodeWhole) bool { return !g.Whole }) &&
		machine.Every(before, step, func(g Seen, _ DeliverFailure) bool { return g.Whole || unwanted })
}

func noStreamIsLeft(before, after Seen, step edge) bool {
	right := machine.Every(before, step, func(g Seen, c CloseStream) bool { return c.Turn == max(g.Stream, g.Due) })
	works, idle := max(before.Stream, before.Due), max(after.Stream, after.Due) == 0
	mustEnd, want := false, false
	switch e := step.Event.(type) {
	case Abandon:
		mustEnd, want = e.Turn == works, true
	case Shutdown:
		mustEnd, want = true, true
	case Done:
		mustEnd = e.Turn == works && (before.Ready || before.Due != 0)
		if before.Due == 0 {
			want = true // it ended before its audio did
		}
	case Failed:
		mustEnd = e.Turn == works && (before.Due == 0 || before.Whole)
	case Refuse:
		mustEnd = e.Turn == works && (!before.Ready || before.Due != 0) && (before.Due == 0 || before.Whole)
	case Open, Ready, EOU, Resumed, Finish, Decode:
	}
	if works == 0 || !mustEnd {
		return right && machine.Once[CloseStream](step, false)
	}
	return right && idle && machine.Once[CloseStream](step, want)
}

func staleIsHarmless(before, _ Seen, step edge) bool {
	return fits(before, step) || step.From == step.To && len(step.Effects) == 0
}

// fits reports whether the machine must act on the event of step. It must ignore all other events.
func fits(g Seen, step edge) bool {
	turn := max(g.Stream, g.Due)
	named := turn == TurnIn(step.Event)
	switch step.Event.(type) {
	case Open, Decode:
		return turn == 0 && !g.Degraded
	case Refuse:
		return named && !(g.Ready && g.Due == 0)
	case EOU, Resumed:
		return named && g.Ready
	case Ready, Finish, Done, Failed, Abandon:
		return named
	case Shutdown:
	}
	return true
}
