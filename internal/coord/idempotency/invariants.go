package idempotency

// The invariants of the machine: one function for each, which reports whether one step keeps it. doc.go says what each means.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

func requestIsProcessedOnlyOnce(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ Forward) bool { return !g.Risked })
}

func atMostOneHolder(before, after Seen, step edge) bool {
	once := machine.Every(before, step, func(g Seen, _ Grant) bool { return g.Holder == 0 })
	s, _ := step.To.(Locked)
	return once && s.Try == after.Holder && s.Sent == after.Sent && s.Safe == after.Safe
}

func onlyTheHolderSends(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, send Forward) bool { return send.Try == g.Holder && !g.Sent })
}

func everyTryIsAnswered(_, _ Seen, step edge) bool {
	if t := asks(step.Event); t != 0 {
		return slices.Equal(answers(step), []Try{t})
	}
	return len(answers(step)) == 0
}

func everyTryGetsTheSameResponse(before, after Seen, step edge) bool {
	e, fresh := step.Event.(Processed)
	same := machine.Every(before, step, func(g Seen, reply Reply) bool {
		return reply.Replayed == !fresh && (g.Done || fresh) && (!g.Done || reply.Response == g.Response) &&
			(!fresh || reply.Response == e.Response)
	})
	s, cached := step.To.(Cached)
	return same && cached == after.Done && s.Response == after.Response
}

func otherPayloadIsRefused(before, after Seen, step edge) bool {
	e, check := step.Event.(Check)
	other := check && before.Payload != 0 && e.Payload != before.Payload
	return machine.Once[Refuse](step, other) && (!other || step.From == step.To) && payload(step.To) == after.Payload
}

func unknownIsSaid(_, after Seen, step edge) bool {
	s, unknown := step.To.(Unknown)
	if unknown != (after.Doubt != 0) || s.Try != after.Doubt {
		return false
	}
	said := !machine.Once[SayUnknown](step, false)
	switch e := step.Event.(type) {
	case Check:
		return said == (unknown && e.Payload == after.Payload)
	case GaveUp:
		_, was := step.From.(Unknown)
		return said == (unknown && !was)
	case Sending, Processed, LeaseExpired:
	}
	return !said
}

func retriedOnlyWhereSafe(before, after Seen, step edge) bool {
	_, locked := step.From.(Locked)
	_, free := step.To.(Free)
	if locked && free {
		return !before.Sent || before.Safe
	}
	// The lock is lost only if the holder is gone, not because of another try.
	return !locked || before.Holder != after.Holder || step.To.Name() == step.From.Name()
}

func leaseIsArmed(before, after Seen, step edge) bool {
	grants, arms := 0, 0
	for _, f := range step.Effects {
		switch f := f.(type) {
		case Grant:
			if arms == 0 {
				return false
			}
			grants++
		case ArmLease:
			if f.Lease != before.Lease+1 {
				return false
			}
			arms++
		case Wait, Forward, Reply, Refuse, SayUnknown, SayRetry, CheckAgain, Wake:
		}
	}
	return grants == arms && arms <= 1 && lease(step.To, after) == after.Lease
}

// lease returns the newest lease that s has, or the newest that the monitor knows if s has none.
func lease(s State, seen Seen) Lease {
	switch s := s.(type) {
	case Free:
		return s.Lease
	case Locked:
		return s.Lease
	case Cached, Unknown:
	}
	return seen.Lease
}

func staleIsHarmless(before, _ Seen, step edge) bool {
	stale, still := false, step.From == step.To
	switch e := step.Event.(type) {
	case Sending:
		stale = e.Try != before.Holder || before.Sent
	case Processed:
		stale = e.Try != before.Holder && e.Try != before.Doubt
	case GaveUp:
		stale = e.Try != before.Holder
	case LeaseExpired:
		return before.Holder != 0 && e.Lease == before.Lease || still && len(step.Effects) == 0
	case Check:
	}
	return !stale || still && machine.Once[CheckAgain](step, true) && slices.Contains(step.Effects, Effect(CheckAgain{asks(step.Event)}))
}

func waitersAreWoken(before, after Seen, step edge) bool {
	return machine.Once[Wake](step, before.Holder != 0 && after.Holder != before.Holder)
}
