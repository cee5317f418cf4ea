package playout

// The states, events and effects of the machine.

import "github.com/antiphon-rt/antiphon/coord/id"

// Mark is a position in a response: milliseconds of audio since the beginning of an
// item. The zero Mark is the beginning of the response.
type Mark struct {
	Item id.Item
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
		Last id.Response
	}
	// Playing: the audio of Resp goes out.
	Playing struct {
		Resp id.Response
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
		Resp              id.Response
		Candidate, Client id.Turn
		At                Mark
		Started, Tail     bool
		Awaits, Rejected  bool
		Gen               uint32
	}
	// Cut: Resp was cut, and the client has not said yet what was heard of it. At is the position
	// that is used if the client does not say it in time.
	Cut struct {
		Resp id.Response
		At   Mark
		Gen  uint32
	}
	// Terminated absorbs everything.
	Terminated struct{}
)

func (Silent) state()     {}
func (Playing) state()    {}
func (Held) state()       {}
func (Cut) state()        {}
func (Terminated) state() {}

// Name is the state's name in diagrams, logs and the spec.
func (Silent) Name() string     { return "Silent" }
func (Playing) Name() string    { return "Playing" }
func (Held) Name() string       { return "Held" }
func (Cut) Name() string        { return "Cut" }
func (Terminated) Name() string { return "Terminated" }

// Event is one of Begin, Drained, Candidate, Ready, ReadyExpired, Confirm, Reject, Clear, Heard,
// HeardExpired, Shutdown. If an event has Reports, that says: the client ducks the agent itself,
// and will report what was heard.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Begin: the first audio of Resp has come. Candidate is the open turn that it
	// must wait for, or 0.
	Begin struct {
		Resp      id.Response
		Candidate id.Turn
	}
	// Drained: the last audio of segment Gen has gone out.
	Drained struct {
		Resp id.Response
		Gen  uint32
	}
	// Candidate: the user may be interrupting. Heard is how far the response has been sent. Reports: the
	// client found the candidate, and will send its ready.
	Candidate struct {
		Candidate id.Turn
		Heard     Mark
		Reports   bool
	}
	// Ready: the client of the candidate says that the user heard the response up to At at full level,
	// without a gap, and hears at full level again what comes now.
	Ready struct {
		Candidate id.Turn
		At        Mark
	}
	// ReadyExpired: the client did not send its ready in time.
	ReadyExpired struct{ Candidate id.Turn }
	// Confirm: Candidate is a barge-in. Reports: the client will send what was heard.
	Confirm struct {
		Candidate id.Turn
		Reports   bool
	}
	// Reject: Candidate is no barge-in.
	Reject struct{ Candidate id.Turn }
	// Clear: what was not heard yet is dropped. Heard is how far the response has been sent. Reports: the
	// client will send what was heard.
	Clear struct {
		Reason  Reason
		Heard   Mark
		Reports bool
	}
	// Heard: the client says that the user heard Resp, which was cut, up to At.
	Heard struct {
		Resp id.Response
		At   Mark
	}
	// HeardExpired: the client did not send Heard in time.
	HeardExpired struct{ Resp id.Response }
	// Shutdown: the session ends.
	Shutdown struct{}
)

func (Begin) event()        {}
func (Drained) event()      {}
func (Candidate) event()    {}
func (Ready) event()        {}
func (ReadyExpired) event() {}
func (Confirm) event()      {}
func (Reject) event()       {}
func (Clear) event()        {}
func (Heard) event()        {}
func (HeardExpired) event() {}
func (Shutdown) event()     {}

// Name is the event's name in diagrams, logs and the spec.
func (Begin) Name() string        { return "Begin" }
func (Drained) Name() string      { return "Drained" }
func (Candidate) Name() string    { return "Candidate" }
func (Ready) Name() string        { return "Ready" }
func (ReadyExpired) Name() string { return "ReadyExpired" }
func (Confirm) Name() string      { return "Confirm" }
func (Reject) Name() string       { return "Reject" }
func (Clear) Name() string        { return "Clear" }
func (Heard) Name() string        { return "Heard" }
func (HeardExpired) Name() string { return "HeardExpired" }
func (Shutdown) Name() string     { return "Shutdown" }

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
		Resp id.Response
		Gen  uint32
	}
	// Hold stops Resp's audio where it is and sends silence.
	Hold struct{ Resp id.Response }
	// AwaitReady begins the time in which the client is to send its ready (300 ms over the round
	// trip). One that runs for the same candidate begins anew.
	AwaitReady struct{ Candidate id.Turn }
	// RewindAndResume goes back to From and begins segment Gen there.
	RewindAndResume struct {
		Resp id.Response
		From Mark
		Gen  uint32
	}
	// Drop forgets what of Resp has not gone out.
	Drop struct{ Resp id.Response }
	// EmitStarted announces that Resp is heard.
	EmitStarted struct{ Resp id.Response }
	// EmitStopped announces that it was heard to its end.
	EmitStopped struct{ Resp id.Response }
	// EmitCleared announces that it was cut off.
	EmitCleared struct{ Resp id.Response }
	// EmitRejected tells the client that its candidate was none, and that the reply goes on:
	// antiphon.barge_in.rejected.
	EmitRejected struct{ Candidate id.Turn }
	// AwaitHeard begins the time in which the client is to say what of Resp was heard (300 ms over the
	// round trip).
	AwaitHeard struct{ Resp id.Response }
	// Truncate cuts Resp's items in the conversation at what was heard: End.Item
	// after End.MS milliseconds, later ones at their beginning.
	Truncate struct {
		Resp id.Response
		End  Mark
	}
)

func (Play) effect()            {}
func (Hold) effect()            {}
func (AwaitReady) effect()      {}
func (RewindAndResume) effect() {}
func (Drop) effect()            {}
func (EmitStarted) effect()     {}
func (EmitStopped) effect()     {}
func (EmitCleared) effect()     {}
func (EmitRejected) effect()    {}
func (AwaitHeard) effect()      {}
func (Truncate) effect()        {}

// Name is the effect's name in logs and the spec.
func (Play) Name() string            { return "Play" }
func (Hold) Name() string            { return "Hold" }
func (AwaitReady) Name() string      { return "AwaitReady" }
func (RewindAndResume) Name() string { return "RewindAndResume" }
func (Drop) Name() string            { return "Drop" }
func (EmitStarted) Name() string     { return "EmitStarted" }
func (EmitStopped) Name() string     { return "EmitStopped" }
func (EmitCleared) Name() string     { return "EmitCleared" }
func (EmitRejected) Name() string    { return "EmitRejected" }
func (AwaitHeard) Name() string      { return "AwaitHeard" }
func (Truncate) Name() string        { return "Truncate" }
