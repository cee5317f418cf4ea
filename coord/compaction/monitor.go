package compaction

// The monitor of the machine: its invariants, and what they remember of earlier steps.

import "github.com/antiphon-rt/antiphon/coord/machine"

type edge = machine.Edge[State, Event, Effect]

// Seen is what a monitor remembers of a run, however long: generations count up,
// so one number stands for all that were.
type Seen struct {
	Gen  uint32 // newest run
	Runs bool   // it goes on
	Done bool   // it has finished, its summary is to be applied
	Owed bool   // something was appended that no run has read
	Down bool
}

// Monitor checks the invariants of the machine after every step. The explore tests use it, and so do the simulation and a server
// that is configured to check its invariants.
var Monitor = machine.Monitor[State, Event, Effect, Seen]{
	See: see,
	Invariants: []machine.Invariant[State, Event, Effect, Seen]{
		{Name: "SingleFlight", Holds: singleFlight},
		{Name: "NoneAfterTeardown", Holds: noneAfterTeardown},
		{Name: "RememberedOnce", Holds: rememberedOnce},
		{Name: "AppliedOnce", Holds: appliedOnce},
		{Name: "GenGrows", Holds: genGrows},
		{Name: "StaleIsHarmless", Holds: staleIsHarmless},
	},
}

// see returns what the monitor remembers after step, if it remembered g before.
func see(g Seen, step edge) Seen {
	g = g.event(step.Event)
	for _, f := range step.Effects {
		g = g.effect(f)
	}
	return g
}

// event returns what the monitor remembers after the event e, before the effects of the step.
func (g Seen) event(e Event) Seen {
	switch e := e.(type) {
	case Trigger:
		g.Owed = !g.Down
	case Finished:
		if g.Runs && e.Gen == g.Gen {
			g.Runs, g.Done = false, true
		}
	case Shutdown:
		g.Down, g.Owed, g.Done = true, false, false
	}
	return g
}

// effect returns what the monitor remembers after the effect f.
func (g Seen) effect(f Effect) Seen {
	switch f := f.(type) {
	case Start:
		g.Gen, g.Runs, g.Owed = max(g.Gen, f.Gen), true, false
	case Apply:
		g.Done = false
	case Cancel:
		g.Runs = false
	}
	return g
}

// each reports whether holds is true for every effect of step. holds gets what the monitor remembers right before the effect.
func each(before Seen, step edge, holds func(Seen, Effect) bool) bool {
	return machine.Each(before.event(step.Event), step.Effects, Seen.effect, holds)
}

// One run at a time, and the state knows which.
func singleFlight(before, after Seen, step edge) bool {
	one := each(before, step, func(g Seen, f Effect) bool {
		_, starts := f.(Start)
		return !starts || !g.Runs
	})
	s, running := step.To.(Running)
	return one && running == after.Runs && (!running || s.Gen == after.Gen)
}

// After the end no run begins, none is left going, and nothing is replaced. A run
// is cancelled by the end alone, once.
func noneAfterTeardown(before, after Seen, step edge) bool {
	none := each(before, step, func(g Seen, f Effect) bool {
		switch f := f.(type) {
		case Start, Apply:
			return !g.Down
		case Cancel:
			return g.Down && g.Runs && f.Gen == g.Gen
		}
		return true
	})
	_, down := step.To.(Terminated)
	return none && down == after.Down && (!down || !after.Runs)
}

// A trigger while a run goes on begins one more run, right after it; without one
// none begins.
func rememberedOnce(before, after Seen, step edge) bool {
	wanted := each(before, step, func(g Seen, f Effect) bool {
		_, starts := f.(Start)
		return !starts || g.Owed
	})
	s, running := step.To.(Running)
	return wanted && after.Owed == (running && s.Again)
}

// A run's summary is applied once, when the run has finished, and before the next.
func appliedOnce(before, after Seen, step edge) bool {
	return !after.Done && each(before, step, func(g Seen, f Effect) bool {
		switch f := f.(type) {
		case Start:
			return !g.Done
		case Apply:
			return g.Done && f.Gen == g.Gen
		case Cancel:
		}
		return true
	})
}

// Every run has a new generation, and the state knows the newest.
func genGrows(before, after Seen, step edge) bool {
	grows := each(before, step, func(g Seen, f Effect) bool {
		s, starts := f.(Start)
		return !starts || s.Gen > g.Gen
	})
	idle, is := step.To.(Idle)
	return grows && (!is || idle.Gen == after.Gen)
}

// The end of an older run, and whatever comes after the shutdown, change nothing.
func staleIsHarmless(before, _ Seen, step edge) bool {
	fits := !before.Down
	if e, finished := step.Event.(Finished); finished {
		fits = fits && before.Runs && e.Gen == before.Gen
	}
	return fits || step.From == step.To && len(step.Effects) == 0
}
