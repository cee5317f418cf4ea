package turn

// The states, events and effects of the machine.

import "github.com/antiphon-rt/antiphon/coord/machine"

// ID names one user turn; 0 is none.
type ID = machine.Turn

// Reason is why a turn was dropped.
type Reason uint8

// The reasons.
const (
	Cleared Reason = iota + 1 // the client cleared the input buffer
	NoWords                   // the gate found no words in it
	Stopped                   // the detector was switched off, or the session ends
)

// String is the reason's name in logs and stories.
func (r Reason) String() string {
	switch r {
	case Cleared:
		return "Cleared"
	case NoWords:
		return "NoWords"
	case Stopped:
		return "Stopped"
	}
	return "none"
}

// State is one of Idle, Candidate, Speaking, Confirming.
//
//machine:field Open Turn returns the turn that is open, a candidate's too, or 0.
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Idle: no turn is open.
	Idle struct{}
	// Candidate: the user speaks over the agent, and it is not decided whether this is a barge-in.
	Candidate struct{ Turn ID }
	// Speaking: Turn is open. EOU: the recogniser has reported the end of the utterance, and the speech has not stopped yet.
	// Gate: the gate must confirm this end. Gen grows when a fallback timer is armed and when the speech goes on again, so
	// that the machine recognises stale timers and answers of the gate. Invariant: Gate implies EOU.
	Speaking struct {
		Turn      ID
		EOU, Gate bool
		Gen       uint32
	}
	// Confirming: the gate was asked whether the utterance has ended: the whole utterance is recognised again. Gen is the number
	// of this question.
	Confirming struct {
		Turn ID
		Gen  uint32
	}
)

// Event is one of Onset, ClientCandidate, Sustained, Misfire, Silence,
// EndOfUtterance, VoiceResumed, FallbackExpired, GatePassed, GateRefused,
// Commit, Clear, NoSpeech, IdleTimeout, Shutdown.
//
//machine:field turnIn Turn returns the turn that the event x names, or 0.
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Onset: speech began. Turn is fresh. AgentAudible: a response is live or its
	// audio plays, and the session's interrupt_response is on.
	Onset struct {
		Turn         ID
		AgentAudible bool
	}
	// ClientCandidate: the client's own detector heard speech over the agent. Turn is fresh.
	ClientCandidate struct{ Turn ID }
	// Sustained: the candidate is a barge-in: enough speech or words came, or the speech still went on at the deadline.
	Sustained struct{ Turn ID }
	// Misfire: the candidate is no barge-in: the speech ended too soon, or was only an acknowledgement, or there was none at the
	// deadline.
	Misfire struct{ Turn ID }
	// Silence: the user has been silent for the time in the session's settings. FallbackMS is 0 if silence alone commits the
	// turn. Otherwise it is how many milliseconds more the machine waits for an end of utterance.
	Silence struct {
		Turn       ID
		FallbackMS uint32
	}
	// EndOfUtterance: the recogniser reports that the sentence is complete. Voiced: the speech has not stopped. Gate: the gate
	// must confirm it.
	EndOfUtterance struct {
		Turn         ID
		Voiced, Gate bool
	}
	// VoiceResumed: speech after a silence that did not commit.
	VoiceResumed struct{ Turn ID }
	// FallbackExpired: the fallback timer of generation Gen ran out.
	FallbackExpired struct {
		Turn ID
		Gen  uint32
	}
	// GatePassed: the gate confirms the end of the utterance, or has failed: that end counts as it does without a gate. It answers the
	// question Gen.
	GatePassed struct {
		Turn ID
		Gen  uint32
	}
	// GateRefused: the gate does not confirm it. The machine then waits at most FallbackMS milliseconds for more speech.
	GateRefused struct {
		Turn       ID
		Gen        uint32
		FallbackMS uint32
	}
	// Commit: the client commits the input buffer. Turn is fresh and used when no turn is open.
	Commit struct{ Turn ID }
	// Clear: the client clears the input buffer.
	Clear struct{}
	// NoSpeech: the gate found no words in the turn. It answers the question Gen.
	NoSpeech struct {
		Turn ID
		Gen  uint32
	}
	// IdleTimeout: nobody has spoken for the time in the session's settings. Turn is fresh.
	IdleTimeout struct{ Turn ID }
	// Shutdown: the detector is switched off, or the session ends.
	Shutdown struct{}
)

// Effect is one of OpenCandidate, RejectCandidate, OpenTurn, BargeIn,
// EmitSpeechStarted, EmitSpeechStopped, EmitTimeout, ArmFallback, AskGate,
// CommitTurn, DiscardTurn.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// OpenCandidate holds the response and starts the decision, which has a deadline.
	OpenCandidate struct{ Turn ID }
	// RejectCandidate lets the held response go on.
	RejectCandidate struct{ Turn ID }
	// OpenTurn opens the turn. The turn's audio begins with the pre-roll: some audio from before the speech.
	OpenTurn struct{ Turn ID }
	// BargeIn interrupts the response.
	BargeIn struct{ Turn ID }
	// EmitSpeechStarted sends input_audio_buffer.speech_started.
	EmitSpeechStarted struct{ Turn ID }
	// EmitSpeechStopped sends input_audio_buffer.speech_stopped.
	EmitSpeechStopped struct{ Turn ID }
	// EmitTimeout sends input_audio_buffer.timeout_triggered.
	EmitTimeout struct{ Turn ID }
	// ArmFallback starts a timer of generation Gen that runs for MS milliseconds.
	ArmFallback struct {
		Turn ID
		Gen  uint32
		MS   uint32
	}
	// AskGate asks the gate whether the utterance has ended. The answer has the same Gen.
	AskGate struct {
		Turn ID
		Gen  uint32
	}
	// CommitTurn makes the turn's audio the next item of the conversation.
	// ByClient: the client committed it, and will ask for a response if it wants one.
	// Wordless: nobody spoke in it; there is nothing to transcribe.
	CommitTurn struct {
		Turn     ID
		ByClient bool
		Wordless bool
	}
	// DiscardTurn drops the turn.
	DiscardTurn struct {
		Turn   ID
		Reason Reason
	}
)
