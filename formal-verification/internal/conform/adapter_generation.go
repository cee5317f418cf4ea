package conform

// The adapter of generation.fizz: compares it with the table of coord/generation.

import (
	"github.com/antiphon-rt/antiphon/coord/generation"
)

type generationWorld = world[generation.State, generation.Seen]

// generationMachine compares the making of one response with specs/generation.fizz. It also compares the spec's ghosts
// with what the monitor has seen.
func generationMachine() Comparer {
	fields := FieldsOf(generation.Values)
	return Machine[generation.State, generation.Event, generation.Effect, generationWorld]{
		Spec: "generation", Table: generation.Table, First: generation.Announced{},
		Domain: generationWorld{At: generation.Announced{}},
		Events: generationEvents,
		Grow:   monitored(generation.Table, generation.Monitor),
		Vars: func(s generation.State, w generationWorld) map[string]string {
			return ghosts(fields(s), map[string]any{
				"asked": w.Seen.Asked, "ran": w.Seen.Ran, "runs": w.Seen.Runs, "due": w.Seen.Due,
				"reported": w.Seen.Reported, "closed": w.Seen.Closed,
			})
		},
	}
}

// generationEvents returns the events. The terminal event has two labels, because the spec's fairness holds only for the answer to a report.
func generationEvents(s generation.State, _ generationWorld) []Labelled[generation.Event] {
	terminal := "Terminal"
	if s == (generation.Reported{}) {
		terminal = "TerminalOfReported"
	}
	return []Labelled[generation.Event]{
		{"Ask", generation.Ask{}},
		{"Begin", generation.Begin{}},
		{"Refuse", generation.Refuse{}},
		{"Cancel", generation.Cancel{}},
		{"BodyOver", generation.BodyOver{}},
		{terminal, generation.Terminal{}},
	}
}
