package conform

// The adapter of transcription.fizz: compares it with the table of coord/transcription.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/transcription"
)

// transcriptionTurns is how many TURNS specs/transcription.fizz has.
const transcriptionTurns = 2

type transcriptionWorld = world[transcription.State, transcription.Seen]

// transcriptionMachine returns the adapter. It also compares the spec's ghosts with what the code's monitor remembers.
func transcriptionMachine() Comparer {
	fields := FieldsOf(transcription.Values)
	return Machine[transcription.State, transcription.Event, transcription.Effect, transcriptionWorld]{
		Spec: "transcription", Table: transcription.Table, First: transcription.Closed{},
		Domain: transcriptionWorld{At: transcription.Closed{}},
		Events: transcriptionEvents,
		Grow:   monitored(transcription.Table, transcription.Monitor),
		Vars: func(s transcription.State, w transcriptionWorld) map[string]string {
			return ghosts(fields(s), map[string]any{
				"stream": w.Seen.Stream, "ready": w.Seen.Ready, "heard": w.Seen.EOU,
				"due": w.Seen.Due, "tried": w.Seen.Whole, "degraded": w.Seen.Degraded,
			})
		},
	}
}

// transcriptionEvents returns every event of every turn at any time. A stream that breaks while the user speaks has its own label,
// because the spec's fairness holds only for an answer that the back end owes, and fairness belongs to a whole action.
func transcriptionEvents(s transcription.State, _ transcriptionWorld) []Labelled[transcription.Event] {
	failed := "Failed"
	if _, streaming := s.(transcription.Streaming); streaming {
		failed = "Break"
	}
	out := []Labelled[transcription.Event]{{"Shutdown", transcription.Shutdown{}}}
	for turn := machine.Turn(1); turn <= transcriptionTurns; turn++ {
		of := func(action string, e transcription.Event) {
			out = append(out, Labelled[transcription.Event]{fmt.Sprintf("%s of=%d", action, turn), e})
		}
		of("Open", transcription.Open{Turn: turn})
		of("Ready", transcription.Ready{Turn: turn})
		of("Refuse", transcription.Refuse{Turn: turn})
		of("EOU", transcription.EOU{Turn: turn})
		of("Resumed", transcription.Resumed{Turn: turn})
		of("Finish", transcription.Finish{Turn: turn})
		of("Decode", transcription.Decode{Turn: turn})
		of(failed, transcription.Failed{Turn: turn})
		of("Abandon", transcription.Abandon{Turn: turn})
		out = append(out,
			Labelled[transcription.Event]{fmt.Sprintf("Done of=%d empty=False", turn), transcription.Done{Turn: turn}},
			Labelled[transcription.Event]{fmt.Sprintf("Done of=%d empty=True", turn), transcription.Done{Turn: turn, Empty: true}})
	}
	return out
}
