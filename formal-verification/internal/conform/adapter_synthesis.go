package conform

// The adapter of synthesis.fizz: compares it with the table of coord/synthesis.

import "github.com/antiphon-rt/antiphon/coord/synthesis"

// synthesisClauses is how many CLAUSES specs/synthesis.fizz has.
const synthesisClauses = 2

func synthesisMachine() Comparer {
	return watched("synthesis", synthesis.Table, synthesis.Monitor, synthesis.State(synthesis.Open{}), synthesis.Values, synthesisEvents,
		func(g synthesis.Seen) map[string]any {
			return map[string]any{"ended": g.Ended, "exited": g.Exited, "woken": ifSo(g.Woken, 1)}
		})
}

// synthesisEvents returns the events. The worker's exit has two labels, because the spec's fairness holds only for a worker that
// was told to end, and fairness belongs to a whole action.
func synthesisEvents(s synthesis.State, _ synthesis.Seen) []Labelled[synthesis.Event] {
	exit := "ExitEarly"
	if s == (synthesis.Closing{}) {
		exit = "Exit"
	}
	o := offer[synthesis.Event]{
		{"Finish", synthesis.Finish{}},
		{"Cancel", synthesis.Cancel{}},
		{exit, synthesis.WorkerExited{}},
	}
	for clause := uint32(1); clause <= synthesisClauses; clause++ {
		o.add(synthesis.Enqueue{Clause: clause}, "Enqueue clause=%d", clause)
	}
	return o
}
