package conform

// The adapter of generation.fizz: compares it with the table of coord/generation.

import "github.com/antiphon-rt/antiphon/coord/generation"

func generationMachine() Comparer {
	return watched("generation", generation.Table, generation.Monitor, generation.State(generation.Announced{}), generation.Values, generationEvents,
		seen[generation.Seen](nil))
}

// generationEvents returns the events. The terminal event has two labels, because the spec's fairness holds only for the answer to a report.
func generationEvents(s generation.State, _ generation.Seen) []Labelled[generation.Event] {
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
