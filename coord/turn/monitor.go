package turn

// The monitor of the machine: what it remembers of earlier steps.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Seen is what the monitor remembers of earlier steps. Identifiers count up, so one number is enough to know all older ones.
type Seen struct {
	Newest    ID     // the newest number of a turn or candidate
	Candidate ID     // the candidate that waits for its verdict; 0 is none
	Due       ID     // a candidate that was confirmed and whose BargeIn has not come yet; 0 is none
	Open      ID     // the open turn: neither committed nor discarded; 0 is none
	Speech    ID     // the turn whose start of speech was announced and whose end of speech was not; 0 is none
	Voice     ID     // the turn that the current event may open; 0 is none
	Armed     uint32 // generation of the fallback timer that runs; 0 is none
	Asked     bool   // the gate was asked and has not answered
	EOU       bool   // an end of utterance was reported for the open turn, and no speech came after it
	Gate      bool   // the gate must confirm this end
}

// see returns what the monitor remembers after step, if it remembered g before.
func see(g Seen, step edge) Seen {
	g = machine.See(g, step)
	g.Voice = 0
	return g
}

// Event returns what the monitor remembers after the event of step, before the effects.
func (g Seen) Event(step edge) Seen {
	switch e := step.Event.(type) {
	case Onset, ClientCandidate:
		g.Voice = turnIn(e)
	case VoiceResumed:
		if e.Turn == g.Open {
			g.Armed, g.Asked, g.EOU, g.Gate = 0, false, false, false
		}
	case EndOfUtterance:
		if e.Turn == g.Open && !g.Asked {
			g.EOU, g.Gate = true, e.Gate
		}
	case Sustained, Misfire, Silence, FallbackExpired, GatePassed, GateRefused, Commit, Clear,
		NoSpeech, IdleTimeout, Shutdown:
	}
	return g
}

// Effect returns what the monitor remembers after the effect f.
func (g Seen) Effect(_ edge, f Effect) Seen {
	switch f := f.(type) {
	case OpenCandidate:
		g.Candidate, g.Newest = f.Turn, max(g.Newest, f.Turn)
	case RejectCandidate:
		g.Candidate = 0
	case OpenTurn:
		if g.Candidate == f.Turn {
			g.Candidate, g.Due = 0, f.Turn
		}
		g.Open, g.Newest = f.Turn, max(g.Newest, f.Turn)
	case BargeIn:
		g.Due = 0
	case EmitSpeechStarted:
		g.Speech = f.Turn
	case EmitSpeechStopped:
		g.Speech = 0
	case ArmFallback:
		g.Armed, g.Asked, g.EOU, g.Gate = f.Gen, false, false, false
	case AskGate:
		g.Armed, g.Asked = 0, true
	case CommitTurn:
		g = g.ended(f.Turn)
	case DiscardTurn:
		g = g.ended(f.Turn)
	case EmitTimeout:
	}
	return g
}

func (g Seen) ended(t ID) Seen {
	g.Open, g.Armed, g.Asked, g.EOU, g.Gate, g.Newest = 0, 0, false, false, false, max(g.Newest, t)
	return g
}
