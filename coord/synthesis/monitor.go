package synthesis

// The monitor of the machine: what it remembers of earlier steps, and the invariants. doc.go says what each means.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Seen is what the monitor remembers of the speech of one response.
type Seen struct {
	Ended  bool // Finish, Cancel or the worker's exit came
	Exited bool
	Woken  bool
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	switch step.Event.(type) {
	case Finish, Cancel:
		g.Ended = true
	case WorkerExited:
		g.Ended, g.Exited = true, true
	case Enqueue:
	}
	return g
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(_ edge, f Effect) Seen {
	switch f.(type) {
	case Wake:
		g.Woken = true
	case Say, Refuse, CloseQueue, StopWorker:
	}
	return g
}

func wakeOnce(before, after Seen, step edge) bool {
	once := machine.Every(before, step, func(g Seen, _ Wake) bool { return g.Exited && !g.Woken })
	return once && after.Woken == after.Exited
}

func monotonic(_, after Seen, step edge) bool {
	_, open := step.To.(Open)
	_, closed := step.To.(Closed)
	return Rank(step.To) >= Rank(step.From) && open == !after.Ended && closed == after.Exited
}

func nothingSaidAfterClose(before, _ Seen, step edge) bool {
	return machine.Every(before, step, func(g Seen, _ Say) bool { return !g.Ended })
}

func everyClauseIsAnswered(_, _ Seen, step edge) bool {
	e, enqueue := step.Event.(Enqueue)
	said := slices.Contains(step.Effects, Effect(Say(e)))
	refused := slices.Contains(step.Effects, Effect(Refuse(e)))
	return machine.Once[Say](step, enqueue && said) && machine.Once[Refuse](step, enqueue && !said) && (!enqueue || said != refused)
}

func workerIsTold(before, _ Seen, step edge) bool {
	_, finish := step.Event.(Finish)
	_, cancel := step.Event.(Cancel)
	return machine.Once[CloseQueue](step, finish && !before.Ended) && machine.Once[StopWorker](step, cancel && !before.Exited)
}
