package conform

// The adapter of compaction.fizz: compares it with the table of coord/compaction.

import "github.com/antiphon-rt/antiphon/coord/compaction"

// compactionGens is GENS of specs/compaction.fizz.
const compactionGens = 3

func compactionMachine() Comparer {
	return watched("compaction", compaction.Table, compaction.Monitor, compaction.State(compaction.Idle{}), compaction.Values, compactionEvents,
		func(g compaction.Seen) map[string]any {
			return map[string]any{"newest": g.Gen, "goes": ifSo(g.Runs, g.Gen), "owed": g.Owed, "down": g.Down}
		})
}

// compactionEvents returns reports of every run of the domain, of no run (0), and of one beyond the bound. It leaves out a trigger
// that would need a run beyond the bound.
func compactionEvents(_ compaction.State, g compaction.Seen) []Labelled[compaction.Event] {
	o := offer[compaction.Event]{{"Shutdown", compaction.Shutdown{}}}
	if g.Gen < compactionGens {
		o.add(compaction.Trigger{}, "Trigger")
	}
	for run := range uint32(compactionGens + 2) {
		o.add(compaction.Finished{Gen: run}, "Finished run=%d", run)
	}
	return o
}
