package synthesis

// The monitor of the machine: its invariants, and what they remember of earlier steps.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Seen is what the monitor remembers of the speech of one response.
type Seen struct {
	Ended  bool // Finish, Cancel or the worker's exit came
	Exited bool
	Woken  bool
}

// Monitor checks the invariants of the machine after every step. The explore tests and the simulation use it.
var Monitor = machine.Monitor[State, Event, Effect, Seen]{
	See: machine.See[State, Event, Effect, Seen],
	Invariants: []machine.Invariant[State, Event, Effect, Seen]{
		{Name: "WakeOnce", Holds: wakeOnce},
		{Name: "Monotonic", Holds: monotonic},
		{Name: "NothingSaidAfterClose", Holds: nothingSaidAfterClose},
		{Name: "EveryClauseIsAnswered", Holds: everyClauseIsAnswered},
		{Name: "WorkerIsTold", Holds: workerIsTold},
	},
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

// wakeOnce: Wake comes once, when the worker has ended.
func wakeOnce(before, after Seen, step edge) bool {
	once := machine.Each(before, step, func(g Seen, f Effect) bool {
		_, wakes := f.(Wake)
		return !wakes || g.Exited && !g.Woken
	})
	return once && after.Woken == after.Exited
}

// monotonic: the states only go forward, and the state agrees with what the monitor has seen.
func monotonic(_, after Seen, step edge) bool {
	_, open := step.To.(Open)
	_, closed := step.To.(Closed)
	return Rank(step.To) >= Rank(step.From) && open == !after.Ended && closed == after.Exited
}

// nothingSaidAfterClose: after the end the worker gets no more clauses.
func nothingSaidAfterClose(before, _ Seen, step edge) bool {
	return machine.Each(before, step, func(g Seen, f Effect) bool {
		_, says := f.(Say)
		return !says || !g.Ended
	})
}

// everyClauseIsAnswered: every clause is given to the worker or refused, once.
func everyClauseIsAnswered(_, _ Seen, step edge) bool {
	answers := 0
	for _, f := range step.Effects {
		switch f := f.(type) {
		case Say:
			if step.Event != Enqueue(f) {
				return false
			}
			answers++
		case Refuse:
			if step.Event != Enqueue(f) {
				return false
			}
			answers++
		case CloseQueue, StopWorker, Wake:
		}
	}
	_, enqueue := step.Event.(Enqueue)
	return (answers == 1) == enqueue && answers <= 1
}

// workerIsTold: a worker that runs is told once that the text has ended, and is told of every cancel.
func workerIsTold(before, _ Seen, step edge) bool {
	closes, stops := 0, 0
	for _, f := range step.Effects {
		switch f.(type) {
		case CloseQueue:
			closes++
		case StopWorker:
			stops++
		case Say, Refuse, Wake:
		}
	}
	_, finish := step.Event.(Finish)
	_, cancel := step.Event.(Cancel)
	wantClose, wantStop := 0, 0
	if finish && !before.Ended {
		wantClose = 1
	}
	if cancel && !before.Exited {
		wantStop = 1
	}
	return closes == wantClose && stops == wantStop
}
