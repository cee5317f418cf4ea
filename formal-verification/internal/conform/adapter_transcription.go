package conform

// The adapter of transcription.fizz: compares it with the table of coord/transcription.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/transcription"
)

// transcriptionTurns is how many TURNS specs/transcription.fizz has.
const transcriptionTurns = 2

func transcriptionMachine() Comparer {
	return watched("transcription", transcription.Table, transcription.Monitor, transcription.State(transcription.Closed{}),
		transcription.Values, transcriptionEvents,
		seen[transcription.Seen](map[string]string{"eou": "heard", "whole": "tried"}))
}

// transcriptionEvents returns every event of every turn at any time. A stream that breaks while the user speaks has its own label,
// because the spec's fairness holds only for an answer that the back end owes, and fairness belongs to a whole action.
func transcriptionEvents(s transcription.State, _ transcription.Seen) []Labelled[transcription.Event] {
	failed := "Failed"
	if _, streaming := s.(transcription.Streaming); streaming {
		failed = "Break"
	}
	o := offer[transcription.Event]{{"Shutdown", transcription.Shutdown{}}}
	for turn := machine.Turn(1); turn <= transcriptionTurns; turn++ {
		o.add(transcription.Open{Turn: turn}, "Open of=%d", turn)
		o.add(transcription.Ready{Turn: turn}, "Ready of=%d", turn)
		o.add(transcription.Refuse{Turn: turn}, "Refuse of=%d", turn)
		o.add(transcription.EOU{Turn: turn}, "EOU of=%d", turn)
		o.add(transcription.Resumed{Turn: turn}, "Resumed of=%d", turn)
		o.add(transcription.Finish{Turn: turn}, "Finish of=%d", turn)
		o.add(transcription.Decode{Turn: turn}, "Decode of=%d", turn)
		o.add(transcription.Failed{Turn: turn}, "%s of=%d", failed, turn)
		o.add(transcription.Abandon{Turn: turn}, "Abandon of=%d", turn)
		o.add(transcription.Done{Turn: turn}, "Done of=%d empty=False", turn)
		o.add(transcription.Done{Turn: turn, Empty: true}, "Done of=%d empty=True", turn)
	}
	return o
}
