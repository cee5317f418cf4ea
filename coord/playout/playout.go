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

// State is one of Silent, Playing, Held, Terminated. Gen names the last segment
// of audio: every beginning and every resumption starts a new one, so that a
// late report of an older one is known.
//
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Silent: nothing is to be heard.
	Silent struct{ Gen uint32 }
	// Playing: the audio of Resp goes out.
	Playing struct {
		Resp id.Response
		Gen  uint32
	}
	// Held: silence goes out in place of Resp until Candidate's verdict; At is
	// where it stopped. Started: some of it was announced as started.
	Held struct {
		Resp      id.Response
		Candidate id.Turn
		At        Mark
		Started   bool
		Gen       uint32
	}
	// Terminated absorbs everything.
	Terminated struct{}
)

func (Silent) state()     {}
func (Playing) state()    {}
func (Held) state()       {}
func (Terminated) state() {}

// Name is the state's name in diagrams, logs and the spec.
func (Silent) Name() string     { return "Silent" }
func (Playing) Name() string    { return "Playing" }
func (Held) Name() string       { return "Held" }
func (Terminated) Name() string { return "Terminated" }

// Event is one of Begin, Drained, Candidate, Confirm, Reject, Clear, Shutdown.
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
	// Candidate: somebody may be interrupting; Heard is how far the reply got.
	Candidate struct {
		Candidate id.Turn
		Heard     Mark
	}
	// Confirm: it is an interruption.
	Confirm struct{ Candidate id.Turn }
	// Reject: it is none.
	Reject struct{ Candidate id.Turn }
	// Clear: what was not heard yet is dropped; Heard is how far the reply got.
	Clear struct {
		Reason Reason
		Heard  Mark
	}
	// Shutdown: the session ends.
	Shutdown struct{}
)

func (Begin) event()     {}
func (Drained) event()   {}
func (Candidate) event() {}
func (Confirm) event()   {}
func (Reject) event()    {}
func (Clear) event()     {}
func (Shutdown) event()  {}

// Name is the event's name in diagrams, logs and the spec.
func (Begin) Name() string     { return "Begin" }
func (Drained) Name() string   { return "Drained" }
func (Candidate) Name() string { return "Candidate" }
func (Confirm) Name() string   { return "Confirm" }
func (Reject) Name() string    { return "Reject" }
func (Clear) Name() string     { return "Clear" }
func (Shutdown) Name() string  { return "Shutdown" }

// Effect is one of Play, Hold, RewindAndResume, Drop, EmitStarted, EmitStopped,
// EmitCleared, Truncate.
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
	// Truncate cuts Resp's items in the conversation at what was heard: End.Item
	// after End.MS milliseconds, later ones at their beginning.
	Truncate struct {
		Resp id.Response
		End  Mark
	}
)

func (Play) effect()            {}
func (Hold) effect()            {}
func (RewindAndResume) effect() {}
func (Drop) effect()            {}
func (EmitStarted) effect()     {}
func (EmitStopped) effect()     {}
func (EmitCleared) effect()     {}
func (Truncate) effect()        {}

// Name is the effect's name in logs and the spec.
func (Play) Name() string            { return "Play" }
func (Hold) Name() string            { return "Hold" }
func (RewindAndResume) Name() string { return "RewindAndResume" }
func (Drop) Name() string            { return "Drop" }
func (EmitStarted) Name() string     { return "EmitStarted" }
func (EmitStopped) Name() string     { return "EmitStopped" }
func (EmitCleared) Name() string     { return "EmitCleared" }
func (Truncate) Name() string        { return "Truncate" }
