package conform

// The adapter of voicegate.fizz: compares it with the table of coord/voicegate.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/voicegate"
)

type voicegateWorld = world[voicegate.State, voicegate.Seen]

// voicegateMachine returns the adapter. It also compares the spec's ghosts with what the code's monitor remembers.
func voicegateMachine() Comparer {
	fields := FieldsOf(voicegate.Values)
	return Machine[voicegate.State, voicegate.Event, voicegate.Effect, voicegateWorld]{
		Spec: "voicegate", Table: voicegate.Table, First: voicegate.Waiting{},
		Domain: voicegateWorld{At: voicegate.Waiting{}},
		Events: voicegateEvents,
		Grow:   monitored(voicegate.Table, voicegate.Monitor),
		Vars: func(s voicegate.State, w voicegateWorld) map[string]string {
			return ghosts(fields(s), map[string]any{
				"asked": w.Seen.Asked, "one": w.Seen.First, "admitted": w.Seen.Admitted, "refused": w.Seen.Refused,
			})
		},
	}
}

// voicegateEvents returns every event.
func voicegateEvents(voicegate.State, voicegateWorld) []Labelled[voicegate.Event] {
	out := []Labelled[voicegate.Event]{
		{"Matched", voicegate.Matched{}},
		{"Mismatched", voicegate.Mismatched{}},
		{"Failed", voicegate.Failed{}},
		{"Expired", voicegate.Expired{}},
		{"Shutdown", voicegate.Shutdown{}},
	}
	for _, first := range []bool{false, true} {
		for _, trusted := range []bool{false, true} {
			out = append(out, Labelled[voicegate.Event]{
				fmt.Sprintf("Ask f=%s t=%s", truth[first], truth[trusted]), voicegate.Ask{First: first, Trusted: trusted},
			})
		}
	}
	return out
}

// truth is how FizzBee writes a truth value.
var truth = map[bool]string{false: "False", true: "True"}
