package conform

// The adapter of synthesis.fizz: compares it with the table of coord/synthesis.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/synthesis"
)

// synthesisClauses is how many CLAUSES specs/synthesis.fizz has.
const synthesisClauses = 2

type synthesisWorld = world[synthesis.State, synthesis.Seen]

// synthesisMachine returns the adapter. It also compares the spec's ghosts with what the code's monitor remembers.
func synthesisMachine() Comparer {
	fields := FieldsOf(synthesis.Values)
	return Machine[synthesis.State, synthesis.Event, synthesis.Effect, synthesisWorld]{
		Spec: "synthesis", Table: synthesis.Table, First: synthesis.Open{},
		Domain: synthesisWorld{At: synthesis.Open{}},
		Events: synthesisEvents,
		Grow:   monitored(synthesis.Table, synthesis.Monitor),
		Vars: func(s synthesis.State, w synthesisWorld) map[string]string {
			return ghosts(fields(s), map[string]any{
				"ended": w.Seen.Ended, "exited": w.Seen.Exited, "woken": ifSo(w.Seen.Woken, 1),
			})
		},
	}
}

// synthesisEvents returns the events. The worker's exit has two labels, because the spec's fairness holds only for a worker that
// was told to end, and fairness belongs to a whole action.
func synthesisEvents(s synthesis.State, _ synthesisWorld) []Labelled[synthesis.Event] {
	exit := "ExitEarly"
	if s == (synthesis.Closing{}) {
		exit = "Exit"
	}
	out := []Labelled[synthesis.Event]{
		{"Finish", synthesis.Finish{}},
		{"Cancel", synthesis.Cancel{}},
		{exit, synthesis.WorkerExited{}},
	}
	for clause := uint32(1); clause <= synthesisClauses; clause++ {
		out = append(out, Labelled[synthesis.Event]{fmt.Sprintf("Enqueue clause=%d", clause), synthesis.Enqueue{Clause: clause}})
	}
	return out
}
