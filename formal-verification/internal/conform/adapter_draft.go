package conform

// The adapter of draft.fizz: compares it with the table of coord/draft.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/draft"
	"github.com/antiphon-rt/antiphon/coord/machine"
)

// draftGens and draftTurns are GENS and TURNS of specs/draft.fizz.
const (
	draftGens  = 3
	draftTurns = 2
)

type draftWorld = world[draft.State, draft.Seen]

// draftMachine returns the adapter. It also compares the spec's ghosts with what the code's monitor remembers.
func draftMachine() Comparer {
	fields := FieldsOf(draft.Values)
	return Machine[draft.State, draft.Event, draft.Effect, draftWorld]{
		Spec: "draft", Table: draft.Table, First: draft.Idle{},
		Domain: draftWorld{At: draft.Idle{}},
		Events: draftEvents,
		Grow:   monitored(draft.Table, draft.Monitor),
		Vars: func(s draft.State, w draftWorld) map[string]string {
			return ghosts(fields(s), map[string]any{
				"newest": w.Seen.Gen, "works": w.Seen.Works, "of": uint64(w.Seen.Turn), "committed": w.Seen.Committed,
				"body": w.Seen.Body, "down": w.Seen.Down,
			})
		},
	}
}

// draftEvents returns every event, with every turn and every draft of the domain, draft 0, and one beyond the bound. It leaves out a Likely that
// would need a draft beyond the bound.
func draftEvents(_ draft.State, w draftWorld) []Labelled[draft.Event] {
	out := []Labelled[draft.Event]{
		{"Resumed", draft.Resumed{}},
		{"Dropped", draft.Dropped{}},
		{"Began matches=0", draft.Began{}},
		{"Began matches=1", draft.Began{Matches: true}},
		{"Over", draft.Over{}},
		{"Shutdown", draft.Shutdown{}},
	}
	for t := range machine.Turn(draftTurns) {
		if w.Seen.Gen < draftGens {
			out = append(out, Labelled[draft.Event]{fmt.Sprintf("Likely t=%d", t+1), draft.Likely{Turn: t + 1}})
		}
		out = append(out, Labelled[draft.Event]{fmt.Sprintf("Committed t=%d", t+1), draft.Committed{Turn: t + 1}})
	}
	for gen := range uint32(draftGens + 2) {
		out = append(out, Labelled[draft.Event]{fmt.Sprintf("Failed draft=%d", gen), draft.Failed{Gen: gen}})
	}
	return out
}
