package conform

// The adapter of draft.fizz: compares it with the table of coord/draft.

import (
	"github.com/antiphon-rt/antiphon/coord/draft"
	"github.com/antiphon-rt/antiphon/coord/machine"
)

// draftGens and draftTurns are GENS and TURNS of specs/draft.fizz.
const (
	draftGens  = 3
	draftTurns = 2
)

func draftMachine() Comparer {
	return watched("draft", draft.Table, draft.Monitor, draft.State(draft.Idle{}), draft.Values, draftEvents,
		seen[draft.Seen](map[string]string{"gen": "newest", "turn": "of"}))
}

// draftEvents returns every event, with every turn and every draft of the domain, draft 0, and one beyond the bound. It leaves out a Likely that
// would need a draft beyond the bound.
func draftEvents(_ draft.State, g draft.Seen) []Labelled[draft.Event] {
	o := offer[draft.Event]{
		{"Resumed", draft.Resumed{}},
		{"Dropped", draft.Dropped{}},
		{"Began matches=0", draft.Began{}},
		{"Began matches=1", draft.Began{Matches: true}},
		{"Over", draft.Over{}},
		{"Shutdown", draft.Shutdown{}},
	}
	for t := machine.Turn(1); t <= draftTurns; t++ {
		if g.Gen < draftGens {
			o.add(draft.Likely{Turn: t}, "Likely t=%d", t)
		}
		o.add(draft.Committed{Turn: t}, "Committed t=%d", t)
	}
	for gen := range uint32(draftGens + 2) {
		o.add(draft.Failed{Gen: gen}, "Failed draft=%d", gen)
	}
	return o
}
