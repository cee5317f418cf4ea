package conform

// The adapter of turn.fizz: compares it with the table of coord/turn.

import "github.com/antiphon-rt/antiphon/coord/turn"

// The bounds of specs/turn.fizz.
const (
	maxTurns   = 2    // TURNS
	maxTurnGen = 2    // GENS
	turnWaitMS = 4000 // WAIT
)

// turnMachine returns the adapter. A timer runs out only if it was armed. The monitor remembers this, and the state of the machine does not.
func turnMachine() Comparer {
	m := watched("turn", turn.Table, turn.Monitor, turn.State(turn.Idle{}), turn.Values, turnEvents,
		seen[turn.Seen](map[string]string{"eou": "heard", "gate": "doubted"}))
	m.Ghosts = []string{"cause"}
	return m
}

// turnEvents returns the events without a turn, and the events of every turn, also of one that never was. A client's commit of an
// open turn has no id.
func turnEvents(s turn.State, g turn.Seen) []Labelled[turn.Event] {
	var out offer[turn.Event]
	fresh := g.Newest + 1
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
		turnEnds(&out, s, g, whose)
	}
	return out
}

// turnEnds adds the events that lead to the end of a turn. At the last generation it leaves out those that arm a timer and speech
// that goes on, because the spec has no further generation.
func turnEnds(out *offer[turn.Event], s turn.State, g turn.Seen, whose turn.ID) {
	silence := "Silence"
	if g.Armed != 0 {
		silence = "SilenceAgain"
	}
	last := whose == turn.Open(s) && genOf(s) == maxTurnGen
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
		current := whose == turn.Open(s) && gen == genOf(s)
		if !current || g.Armed != 0 { // else nothing was armed that could run out
			out.add(turn.FallbackExpired{Turn: whose, Gen: gen}, "FallbackExpired whose=%d timer=%d", whose, gen)
		}
		out.add(turn.GatePassed{Turn: whose, Gen: gen}, "GatePassed whose=%d asking=%d", whose, gen)
		out.add(turn.NoSpeech{Turn: whose, Gen: gen}, "NoSpeech whose=%d asking=%d", whose, gen)
		if !last || !current {
			out.add(turn.GateRefused{Turn: whose, Gen: gen, FallbackMS: turnWaitMS}, "GateRefused whose=%d asking=%d", whose, gen)
		}
	}
}
