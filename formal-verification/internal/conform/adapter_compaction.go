package conform

// The adapter of compaction.fizz: compares it with the table of coord/compaction.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/compaction"
)

// compactionGens is GENS of specs/compaction.fizz.
const compactionGens = 3

type compactionWorld = world[compaction.State, compaction.Seen]

// compactionMachine returns the adapter. It also compares the spec's ghosts with what the code's monitor remembers.
func compactionMachine() Comparer {
	fields := FieldsOf(compaction.Values)
	return Machine[compaction.State, compaction.Event, compaction.Effect, compactionWorld]{
		Spec: "compaction", Table: compaction.Table, First: compaction.Idle{},
		Domain: compactionWorld{At: compaction.Idle{}},
		Events: compactionEvents,
		Grow:   monitored(compaction.Table, compaction.Monitor),
		Vars: func(s compaction.State, w compactionWorld) map[string]string {
			return ghosts(fields(s), map[string]any{
				"newest": w.Seen.Gen, "goes": ifSo(w.Seen.Runs, w.Seen.Gen), "owed": w.Seen.Owed, "down": w.Seen.Down,
			})
		},
	}
}

// compactionEvents returns reports of every run of the domain, of no run (0), and of one beyond the bound. It leaves out a trigger
// that would need a run beyond the bound.
func compactionEvents(_ compaction.State, w compactionWorld) []Labelled[compaction.Event] {
	out := []Labelled[compaction.Event]{{"Shutdown", compaction.Shutdown{}}}
	if w.Seen.Gen < compactionGens {
		out = append(out, Labelled[compaction.Event]{"Trigger", compaction.Trigger{}})
	}
	for run := range uint32(compactionGens + 2) {
		out = append(out, Labelled[compaction.Event]{fmt.Sprintf("Finished run=%d", run), compaction.Finished{Gen: run}})
	}
	return out
}
