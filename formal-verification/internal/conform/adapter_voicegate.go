package conform

// The adapter of voicegate.fizz: compares it with the table of internal/coord/voicegate.

import "github.com/antiphon-rt/antiphon/internal/coord/voicegate"

func voicegateMachine() Comparer {
	return watched("voicegate", voicegate.Table, voicegate.Monitor, voicegate.State(voicegate.Waiting{}), voicegate.Values, voicegateEvents,
		seen[voicegate.Seen](map[string]string{"first": "one"}))
}

func voicegateEvents(voicegate.State, voicegate.Seen) []Labelled[voicegate.Event] {
	o := offer[voicegate.Event]{
		{"Matched", voicegate.Matched{}},
		{"Mismatched", voicegate.Mismatched{}},
		{"Failed", voicegate.Failed{}},
		{"Expired", voicegate.Expired{}},
		{"Shutdown", voicegate.Shutdown{}},
	}
	for _, first := range []bool{false, true} {
		for _, trusted := range []bool{false, true} {
			o.add(voicegate.Ask{First: first, Trusted: trusted}, "Ask f=%t t=%t", first, trusted)
		}
	}
	return o
}
