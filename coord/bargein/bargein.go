package bargein

// The states, events and effects of the machine.

import "github.com/antiphon-rt/antiphon/coord/machine"

// ID is the number of a candidate: speech with which the user may be interrupting. New candidates count up from 1. 0 means
// none.
type ID uint64

// Position is a number that stands for a position in the played audio. The driver chooses the numbers: for a WebRTC client
// it is the RTP timestamp of the packet that plays. The machine stores positions and returns them in effects. It never compares them.
type Position uint32

// State is one of Silent, Playing, Ducked, Silenced, Restored, Unanswered, Closed.
//
//machine:field heard Resp returns the response that plays in x, at any level, or 0.
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Silent: the user hears no response. Last is the newest response that the user heard. Cut: the server interrupted it.
	Silent struct {
		Last machine.Response
		Cut  bool
	}
	// Playing: the client plays Resp at full level.
	Playing struct{ Resp machine.Response }
	// Ducked: the level is down while Candidate waits for its verdict. The client played Resp at full level, without a
	// gap, up to Full. Missed: it was silenced since, so the user has missed something.
	Ducked struct {
		Resp      machine.Response
		Candidate ID
		Full      Position
		Missed    bool
	}
	// Silenced is Ducked while the speech is the user's voice: the user hears nothing of the agent. Missed is set.
	Silenced struct {
		Resp      machine.Response
		Candidate ID
		Full      Position
		Missed    bool
	}
	// Restored: the level is full again, and the silence plays that the server sends in place of the response. The client has
	// sent SendReady. Candidate still waits for its verdict.
	Restored struct {
		Resp      machine.Response
		Candidate ID
	}
	// Unanswered: the deadline came before the server's silence. The level is full again. If the server's silence comes
	// later, the client reports Full with SendReady. Missed is as in Ducked.
	Unanswered struct {
		Resp      machine.Response
		Candidate ID
		Full      Position
		Missed    bool
	}
	// Closed absorbs everything.
	Closed struct{}
)

// Pending returns the candidate that waits for its verdict, or 0. While there is one, the client
// predicts that the user interrupts.
func Pending(s State) ID {
	switch s := s.(type) {
	case Ducked:
		return s.Candidate
	case Silenced:
		return s.Candidate
	case Restored:
		return s.Candidate
	case Silent, Playing, Unanswered, Closed:
	}
	return 0
}

// Event is one of Began, Ended, Onset, Sustained, VoiceEnded, Acked, Passed, Rejected, Confirmed,
// Expired, Close.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Began: the user hears Resp from now on.
	Began struct{ Resp machine.Response }
	// Ended: the user has heard Resp to its end.
	Ended struct{ Resp machine.Response }
	// Onset: the client's detector finds speech that is not the agent's echo. Candidate is
	// fresh; At is the position that plays now.
	Onset struct {
		Candidate ID
		At        Position
	}
	// Sustained: the speech of Candidate has lasted.
	Sustained struct{ Candidate ID }
	// VoiceEnded: the speech of Candidate has ended.
	VoiceEnded struct{ Candidate ID }
	// Acked: the server holds for Candidate; At is its first silent packet.
	Acked struct {
		Candidate ID
		At        Position
	}
	// Passed: playback has reached the position that AwaitPosition named for Candidate.
	Passed struct{ Candidate ID }
	// Rejected: the server says that Candidate is no barge-in.
	Rejected struct{ Candidate ID }
	// Confirmed: the server has interrupted Resp, for this client's candidate or for an onset that the server found itself. At
	// is the position that plays now.
	Confirmed struct {
		Resp machine.Response
		At   Position
	}
	// Expired: the deadline of Candidate has come.
	Expired struct{ Candidate ID }
	// Close: the connection is over.
	Close struct{}
)

// Effect is one of Duck, Silence, Restore, SendCandidate, ArmDeadline, AwaitPosition, SendReady, Mute,
// SendHeard.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// Duck lowers the agent by 20 dB.
	Duck struct{}
	// Silence silences the agent.
	Silence struct{}
	// Restore sets the agent back to full level.
	Restore struct{}
	// SendCandidate tells the server: antiphon.barge_in.candidate.
	SendCandidate struct {
		Candidate ID
		Resp      machine.Response
		At        Position
	}
	// ArmDeadline starts a timer of 1.5 s. When it ends, the client stops waiting for the verdict on Candidate.
	ArmDeadline struct{ Candidate ID }
	// AwaitPosition asks the driver to send Passed when playback has reached At.
	AwaitPosition struct {
		Candidate ID
		At        Position
	}
	// SendReady sends antiphon.barge_in.ready. It tells the server that the user heard the response at full level, without a
	// gap, up to At. After a rejection it asks the server to go back there.
	SendReady struct {
		Candidate ID
		At        Position
	}
	// Mute drops every packet of Resp from now on, at any level. The driver knows the packets by their timestamps.
	Mute struct{ Resp machine.Response }
	// SendHeard sends antiphon.barge_in.heard. It tells the server that the client played Resp, at any level, up to At.
	SendHeard struct {
		Resp machine.Response
		At   Position
	}
)
