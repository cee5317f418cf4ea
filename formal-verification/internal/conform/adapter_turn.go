package conform

// The adapter of turn.fizz: compares it with the table of coord/turn.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/turn"
)

// The bounds of specs/turn.fizz.
const (
	maxTurns   = 2    // TURNS
	maxTurnGen = 2    // GENS
	turnWaitMS = 4000 // WAIT
)

// turnWorld is the domain. A timer runs out only if it was armed. The monitor remembers this, and the state of the machine does not.
type turnWorld = world[turn.State, turn.Seen]

// turnMachine returns the adapter. It also compares the spec's ghosts with what the code's monitor remembers.
func turnMachine() Comparer {
	fields := FieldsOf(turn.Values)
	return Machine[turn.State, turn.Event, turn.Effect, turnWorld]{
		Spec: "turn", Ghosts: []string{"cause"}, Table: turn.Table, First: turn.Idle{}, Domain: turnWorld{At: turn.Idle{}},
		Events: turnEvents,
		Grow:   monitored(turn.Table, turn.Monitor),
		Vars: func(s turn.State, w turnWorld) map[string]string {
			return ghosts(fields(s), map[string]any{
				"newest": w.Seen.Newest, "candidate": w.Seen.Candidate, "due": w.Seen.Due, "open": w.Seen.Open,
				"speech": w.Seen.Speech, "voice": w.Seen.Voice, "armed": w.Seen.Armed, "asked": w.Seen.Asked,
				"heard": w.Seen.EOU, "doubted": w.Seen.Gate,
			})
		},
	}
}

// turnList collects events with the labels of the spec's edges.
type turnList []Labelled[turn.Event]

func (l *turnList) add(e turn.Event, label string, a ...any) {
	*l = append(*l, Labelled[turn.Event]{fmt.Sprintf(label, a...), e})
}

// turnEvents returns the events without a turn, and the events of every turn, also of one that never was. A client's commit of an
// open turn has no id.
func turnEvents(s turn.State, w turnWorld) []Labelled[turn.Event] {
	var out turnList
	fresh := w.Seen.Newest + 1
	if fresh <= maxTurns {
		out.add(turn.Onset{Turn: fresh, AgentAudible: true}, "Onset audible=true")
		out.add(turn.Onset{Turn: fresh}, "Onset audible=false")
		out.add(turn.ClientCandidate{Turn: fresh}, "ClientCandidate")
		out.add(turn.IdleTimeout{Turn: fresh}, "IdleTimeout")
	}
	if turn.Open(s) != 0 || fresh <= maxTurns {
		out.add(turn.Commit{Turn: fresh}, "Commit")
	}
	out.add(turn.Clear{}, "Clear")
	out.add(turn.Shutdown{}, "Shutdown")
	for whose := turn.ID(1); whose <= maxTurns+1; whose++ {
		out.add(turn.Sustained{Turn: whose}, "Sustained whose=%d", whose)
		out.add(turn.Misfire{Turn: whose}, "Misfire whose=%d", whose)
		turnEnds(&out, s, w, whose)
	}
	return out
}

// turnEnds adds the events that lead to the end of a turn. At the last generation it leaves out those that arm a timer and speech
// that goes on, because the spec has no further generation.
func turnEnds(out *turnList, s turn.State, w turnWorld, whose turn.ID) {
	silence := "Silence"
	if w.Seen.Armed != 0 {
		silence = "SilenceAgain"
	}
	last := whose == turn.Open(s) && turnGen(s) == maxTurnGen
	out.add(turn.Silence{Turn: whose}, "%s whose=%d ms=0", silence, whose)
	if !last {
		out.add(turn.Silence{Turn: whose, FallbackMS: turnWaitMS}, "%s whose=%d ms=%d", silence, whose, turnWaitMS)
		out.add(turn.VoiceResumed{Turn: whose}, "VoiceResumed whose=%d", whose)
	}
	for _, voiced := range []bool{true, false} {
		for _, gated := range []bool{true, false} {
			out.add(turn.EndOfUtterance{Turn: whose, Voiced: voiced, Gate: gated},
				"EndOfUtterance whose=%d voiced=%t gated=%t", whose, voiced, gated)
		}
	}
	for gen := range uint32(maxTurnGen + 2) {
		current := whose == turn.Open(s) && gen == turnGen(s)
		if !current || w.Seen.Armed != 0 { // else nothing was armed that could run out
			out.add(turn.FallbackExpired{Turn: whose, Gen: gen}, "FallbackExpired whose=%d timer=%d", whose, gen)
		}
		out.add(turn.GatePassed{Turn: whose, Gen: gen}, "GatePassed whose=%d asking=%d", whose, gen)
		out.add(turn.NoSpeech{Turn: whose, Gen: gen}, "NoSpeech whose=%d asking=%d", whose, gen)
		if !last || !current {
			out.add(turn.GateRefused{Turn: whose, Gen: gen, FallbackMS: turnWaitMS}, "GateRefused whose=%d asking=%d", whose, gen)
		}
	}
}

// turnGen returns the newest generation of the open turn.
func turnGen(s turn.State) uint32 {
	switch s := s.(type) {
	case turn.Speaking:
		return s.Gen
	case turn.Confirming:
		return s.Gen
	case turn.Idle, turn.Candidate:
	}
	return 0
}
