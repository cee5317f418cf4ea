package playout

import "github.com/antiphon-rt/antiphon/coord/id"

// Mark is a place in a reply: milliseconds of audio since the beginning of an
// item. The zero Mark is the reply's beginning.
type Mark struct {
	Item id.Item
	MS   uint32
}

// Reason is why the output was cleared: for the log, the machine does not ask. The end
// of the session is Shutdown and no Clear.
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

// State is one of Silent, Playing, Held, Cut, Terminated. Gen names the last segment
// of audio: every beginning and every resumption starts a new one, so that a
// late report of an older one is known.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Silent: nothing is to be heard. Last was sent to its end, and its tail may still be ahead
	// of the ear; 0 where there is none, or it was cut off.
	Silent struct {
		Gen  uint32
		Last id.Response
	}
	// Playing: the audio of Resp goes out.
	Playing struct {
		Resp id.Response
		Gen  uint32
	}
	// Held: silence goes out in place of Resp until Candidate's verdict; At is where it goes on.
	// Started: some of it was announced as started, and its end was not. Tail: its end was too.
	//
	// Client is the client's own candidate, which is to be told when it is rejected; 0 is none. It is
	// Candidate but where the server's own onset took that one's place. Awaits: its ready has not come,
	// and so the reply does not go on. Rejected: the verdict has come before it. Invariants: Rejected
	// implies Awaits, Awaits implies Client.
	Held struct {
		Resp              id.Response
		Candidate, Client id.Turn
		At                Mark
		Started, Tail     bool
		Awaits, Rejected  bool
		Gen               uint32
	}
	// Cut: Resp was cut off, and the client has not said yet what of it was heard. At is what stands
	// for that if it does not.
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
// HeardExpired, Shutdown. Reports says of those that have it: the client lowers the agent itself, and
// will say what it heard.
//
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Begin: the first audio of Resp is there. Candidate is the open turn that it
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
	// Candidate: somebody may be interrupting; Heard is how far the reply got. Reports: the client
	// found it, and will send its ready.
	Candidate struct {
		Candidate id.Turn
		Heard     Mark
		Reports   bool
	}
	// Ready: the client, whose candidate it was, heard the reply up to At at full level, without a
	// gap, and what comes now is heard at full level again.
	Ready struct {
		Candidate id.Turn
		At        Mark
	}
	// ReadyExpired: it did not say so in time.
	ReadyExpired struct{ Candidate id.Turn }
	// Confirm: it is an interruption. Reports: the client will send what was heard.
	Confirm struct {
		Candidate id.Turn
		Reports   bool
	}
	// Reject: it is none.
	Reject struct{ Candidate id.Turn }
	// Clear: what was not heard yet is dropped; Heard is how far the reply got. Reports: the client
	// will send what was heard.
	Clear struct {
		Reason  Reason
		Heard   Mark
		Reports bool
	}
	// Heard: of Resp, which was cut off, no more was heard than up to At.
	Heard struct {
		Resp id.Response
		At   Mark
	}
	// HeardExpired: the client did not say so in time.
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
