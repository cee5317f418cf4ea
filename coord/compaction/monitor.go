package compaction

// The monitor of the machine: what it remembers of earlier steps, and the invariants. doc.go says what each means.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Seen is what the monitor remembers of earlier steps. Generation numbers count up, so one number is enough to know all older runs.
type Seen struct {
	Gen  uint32 // the newest run
	Runs bool   // this run goes on
	Done bool   // this run has finished, and its summary is to be applied
	Owed bool   // an item was appended that no run has read
	Down bool
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	switch e := step.Event.(type) {
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

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(_ edge, f Effect) Seen {
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

func singleFlight(before, after Seen, step edge) bool {
	one := machine.Every(before, step, func(g Seen, _ Start) bool { return !g.Runs })
	s, running := step.To.(Running)
	return one && running == after.Runs && (!running || s.Gen == after.Gen)
}

func noneAfterTeardown(before, after Seen, step edge) bool {
	none := machine.Every(before, step, func(g Seen, _ Start) bool { return !g.Down }) &&
		machine.Every(before, step, func(g Seen, _ Apply) bool { return !g.Down }) &&
		machine.Every(before, step, func(g Seen, f Cancel) bool { return g.Down && g.Runs && f.Gen == g.Gen })
	_, down := step.To.(Terminated)
	return none && down == after.Down && (!down || !after.Runs)
}

func rememberedOnce(before, after Seen, step edge) bool {
	wanted := machine.Every(before, step, func(g Seen, _ Start) bool { return g.Owed })
	s, running := step.To.(Running)
	return wanted && after.Owed == (running && s.Again)
}

func appliedOnce(before, after Seen, step edge) bool {
	return !after.Done && machine.Every(before, step, func(g Seen, _ Start) bool { return !g.Done }) &&
		machine.Every(before, step, func(g Seen, f Apply) bool { return g.Done && f.Gen == g.Gen })
}

func genGrows(before, after Seen, step edge) bool {
	grows := machine.Every(before, step, func(g Seen, s Start) bool { return s.Gen > g.Gen })
	idle, is := step.To.(Idle)
	return grows && (!is || idle.Gen == after.Gen)
}

func staleIsHarmless(before, _ Seen, step edge) bool {
	fits := !before.Down
	if e, finished := step.Event.(Finished); finished {
		fits = fits && before.Runs && e.Gen == before.Gen
	}
	return fits || step.From == step.To && len(step.Effects) == 0
}
