package playout

// The states, events and effects of the machine.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Position is a position in a response: MS milliseconds of audio after the beginning of Item. The zero Position is the beginning
// of the response.
type Position struct {
	Item machine.Item
	MS   uint32
}

// Reason is why the output was cleared. It is for the log: the machine does not look at it. The
// end of the session is a Shutdown and not a Clear.
type Reason uint8

// The reasons.
const (
	ByClient Reason = iota + 1 // output_audio_buffer.clear
	ByTurn                     // a new turn's response takes its place
)

// String is the reason's name in logs and stories.
func (r Reason) String() string {
	switch r {
	case ByClient:
		return "ByClient"
	case ByTurn:
		return "ByTurn"
	}
	return "none"
}

// State is one of Silent, Playing, Held, Cut, Terminated. Gen is the generation
// number of the last segment of audio. Every Play and every RewindAndResume starts a new
// segment, so that the machine recognises a stale report of an older one.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Silent: no response plays or is held. Last is the last response if it was sent to its end; the
	// user may not have heard its tail yet. Last is 0 if there is none, or if it was cut.
	Silent struct {
		Gen  uint32
		Last machine.Response
	}
	// Playing: the audio of Resp goes out.
	Playing struct {
		Resp machine.Response
		Gen  uint32
	}
	// Held: silence goes out in place of Resp until the verdict on Candidate. At is the position
	// from which Resp goes on. Started: the start of Resp was announced, and its end was not. Tail: both
	// were announced.
	//
	// Client is the client's own candidate; the client is told when it is rejected. 0 is none. Client is
	// the same as Candidate, unless the server's own onset has replaced Candidate. Awaits: the client's
	// ready has not come, so the response does not go on. Rejected: the verdict came before the ready.
	// Invariants: Rejected implies Awaits, and Awaits implies Client.
	Held struct {
		Resp              machine.Response
		Candidate, Client machine.Turn
		At                Position
		Started, Tail     bool
		Awaits, Rejected  bool
		Gen               uint32
	}
	// Cut: Resp was cut, and the client has not said yet what was heard of it. At is the position
	// that is used if the client does not say it in time.
	Cut struct {
		Resp machine.Response
		At   Position
		Gen  uint32
	}
	// Terminated absorbs everything.
	Terminated struct{}
)

// Sounding returns the response that plays or is held, or 0.
func Sounding(s State) machine.Response {
	switch s := s.(type) {
	case Playing:
		return s.Resp
	case Held:
		return s.Resp
	case Silent, Cut, Terminated:
	}
	return 0
}

// Event is one of Begin, Drained, Candidate, Ready, ReadyExpired, Confirm, Reject, Clear, Heard,
// HeardExpired, Missed, Shutdown. Reports in an event means that the client ducks the agent itself,
// and will report what the user heard.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Begin: the first audio of Resp is there. Candidate is the open turn for which Resp must wait, or 0.
	Begin struct {
		Resp      machine.Response
		Candidate machine.Turn
	}
	// Drained: the last audio of segment Gen has gone out.
	Drained struct {
		Resp machine.Response
		Gen  uint32
	}
	// Candidate: the user may be interrupting. Heard is how far the response has been sent. Reports: the
	// client found the candidate, and will send its ready.
	Candidate struct {
		Candidate machine.Turn
		Heard     Position
		Reports   bool
	}
	// Ready: the client of the candidate says that the user heard the response up to At at full level,
	// without a gap, and hears at full level again what comes now.
	Ready struct {
		Candidate machine.Turn
		At        Position
	}
	// ReadyExpired: the client did not send its ready in time.
	ReadyExpired struct{ Candidate machine.Turn }
	// Confirm: Candidate is a barge-in. Reports: the client will send what was heard.
	Confirm struct {
		Candidate machine.Turn
		Reports   bool
	}
	// Reject: Candidate is no barge-in.
	Reject struct{ Candidate machine.Turn }
	// Clear: drop the rest of the response. Heard is how far the response has been sent. Reports: the
	// client will send what was heard.
	Clear struct {
		Reason  Reason
		Heard   Position
		Reports bool
	}
	// Heard: the client says that the user heard Resp, which was cut, up to At.
	Heard struct {
		Resp machine.Response
		At   Position
	}
	// HeardExpired: the client did not send Heard in time.
	HeardExpired struct{ Resp machine.Response }
	// Missed: the network was cut and is back, and the far end may not have received Resp from From on. Candidate is the open turn
	// for which the end of Resp must wait, or 0. Candidate is used only if Resp was sent to its end.
	Missed struct {
		Resp      machine.Response
		From      Position
		Candidate machine.Turn
	}
	// Shutdown: the session ends.
	Shutdown struct{}
)

// Effect is one of Play, Hold, AwaitReady, RewindAndResume, Drop, EmitStarted, EmitStopped,
// EmitCleared, EmitRejected, AwaitHeard, Truncate.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// Play begins segment Gen: Resp's audio goes out from its beginning.
	Play struct {
		Resp machine.Response
		Gen  uint32
	}
	// Hold stops Resp's audio where it is and sends silence.
	Hold struct{ Resp machine.Response }
	// AwaitReady starts a timer of 300 ms plus the round-trip time, in which the client should send its ready. If the timer
	// of the same candidate runs already, it starts again.
	AwaitReady struct{ Candidate machine.Turn }
	// RewindAndResume goes back to From and begins segment Gen there.
	RewindAndResume struct {
		Resp machine.Response
		From Position
		Gen  uint32
	}
	// Drop discards the audio of Resp that has not gone out.
	Drop struct{ Resp machine.Response }
	// EmitStarted sends output_audio_buffer.started: Resp plays.
	EmitStarted struct{ Resp machine.Response }
	// EmitStopped sends output_audio_buffer.stopped: Resp was sent to its end.
	EmitStopped struct{ Resp machine.Response }
	// EmitCleared sends output_audio_buffer.cleared: Resp was cut.
	EmitCleared struct{ Resp machine.Response }
	// EmitRejected sends antiphon.barge_in.rejected: the client's candidate was no barge-in, and the response goes on.
	EmitRejected struct{ Candidate machine.Turn }
	// AwaitHeard starts a timer of 300 ms plus the round-trip time, in which the client should report how far it has played Resp.
	AwaitHeard struct{ Resp machine.Response }
	// Truncate cuts the items of Resp in the conversation: End.Item after End.MS milliseconds, and later items at their beginning.
	Truncate struct {
		Resp machine.Response
		End  Position
	}
)
